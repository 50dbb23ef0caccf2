import { assert, assertEquals } from "@std/assert";
import { ROOT } from "../support/launch.ts";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier: string };
  }[];
}

/** Everything that is loaded before the first line is read: what static imports reach from these modules. */
async function loadedWith(...roots: readonly string[]): Promise<ReadonlySet<string>> {
  const args = ["info", "--json", `${ROOT}mod.ts`];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const { modules }: { modules: readonly Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const reached = new Set<string>();
  const visit = (specifier: string) => {
    if (reached.has(specifier)) return;
    reached.add(specifier);
    for (const { isDynamic, code } of known.get(specifier)?.dependencies ?? []) {
      if (isDynamic !== true && code !== undefined) visit(code.specifier);
    }
  };
  for (const root of roots) visit(`file://${ROOT}${root}`);
  return reached;
}

Deno.test("a handshake loads neither store nor Sessions nor what an Engine works with", async () => {
  const loaded = [...await loadedWith("mod.ts", "src/cli/mod.ts")];
  const own = loaded.filter((specifier) => specifier.startsWith(`file://${ROOT}`));
  assert(own.some((specifier) => specifier.endsWith("/acp/serve.ts")), "the graph is read right");
  const heavy = [
    ...[
      "/host/store/",
      "/host/local/registry.ts",
      "/host/local/session.ts",
      "/src/session/session.ts",
      "/projection/",
    ],
    ...["/interaction/", "/engine/workbench/session.ts", "/cli/demo.ts", "/cli/doctor.ts", "/cli/help.ts"],
  ];
  assertEquals(own.filter((specifier) => heavy.some((part) => specifier.includes(part))), []);
  assertEquals(loaded.filter((specifier) => specifier === "node:sqlite"), []);
  // Each module costs its share of the start; the floor has the SDK and little else.
  assert(own.length <= 60, `${own.length} modules are loaded`);
});

Deno.test("an editor's door to a Host in another process loads neither store nor what Sessions work with", async () => {
  const loaded = [
    ...await loadedWith("mod.ts", "src/cli/mod.ts", "src/cli/daemon/remote.ts", "src/host/wire/client.ts"),
  ];
  const heavy = ["/host/store/", "/host/local/registry.ts", "/host/local/session.ts", "/host/wire/server.ts"];
  heavy.push("/cli/daemon/daemon.ts", "/transport/web.ts", "/engine/workbench/session.ts", "/projection/");
  assert(loaded.some((specifier) => specifier.endsWith("/host/wire/client.ts")), "the graph is read right");
  assertEquals(loaded.filter((specifier) => heavy.some((part) => specifier.includes(part))), []);
  assertEquals(loaded.filter((specifier) => specifier === "node:sqlite"), []);
});
