import { assertEquals } from "@std/assert";
import plugin, { forbiddenImport } from "../../scripts/architecture.ts";

/** What the plugin says about a file below `src/`. */
function findings(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, `/project/src/${file}`, source).map(({ message }) => message);
}

Deno.test("the arrows of the architecture hold in both directions", async (t) => {
  const table: readonly (readonly [file: string, target: string, allowed: boolean])[] = [
    ["acp/serve.ts", "session/mod.ts", true],
    ["session/prompt.ts", "acp/serve.ts", false],
    ["session/prompt.ts", "projection/mod.ts", true],
    ["session/prompt.ts", "host/local/host.ts", false],
    ["projection/card.ts", "session/ports.ts", true],
    ["projection/card.ts", "session/prompt.ts", false],
    ["interaction/dialog.ts", "projection/diff.ts", true],
    ["resource/files.ts", "session/ports.ts", true],
    ["resource/files.ts", "host/store/contract.ts", false],
    ["host/contract.ts", "model/run.ts", true],
    ["host/contract.ts", "session/ports.ts", false],
    ["host/local/host.ts", "host/store/contract.ts", true],
    ["host/local/host.ts", "engine/contract.ts", true],
    ["host/local/host.ts", "engine/workbench/mod.ts", false],
    ["host/local/host.ts", "host/wire/client.ts", false],
    ["host/wire/client.ts", "wire/lines.ts", true],
    ["host/wire/client.ts", "host/local/host.ts", false],
    ["host/store/folder.ts", "host/local/host.ts", false],
    ["engine/workbench/session.ts", "engine/contract.ts", true],
    ["engine/workbench/session.ts", "engine/acp/mod.ts", false],
    ["engine/acp/mod.ts", "host/local/host.ts", false],
    ["model/run.ts", "host/contract.ts", false],
    ["cli/serve.ts", "host/local/host.ts", true],
    ["acp/serve.ts", "cli/main.ts", false],
    ["acp/serve.ts", "@agentclientprotocol/sdk", true],
    ["engine/acp/mod.ts", "@agentclientprotocol/sdk", true],
    ["session/prompt.ts", "@agentclientprotocol/sdk", false],
    ["cli/demo.ts", "@agentclientprotocol/sdk", false],
    ["host/store/database.ts", "node:sqlite", true],
    ["host/local/host.ts", "node:sqlite", false],
    ["session/prompt.ts", "@std/cli/parse-args", false],
  ];
  for (const [file, target, allowed] of table) {
    await t.step(`${file} ${allowed ? "may" : "may not"} import ${target}`, () => {
      assertEquals(forbiddenImport(file, target) === undefined, allowed);
    });
  }
});

Deno.test("every way to import is seen", () => {
  const forbidden = ['"session" may not import "acp"'];
  assertEquals(findings("session/a.ts", 'import { x } from "../acp/serve.ts"; x();'), forbidden);
  assertEquals(
    findings("session/a.ts", 'import type { X } from "../acp/serve.ts"; export type Y = X;'),
    forbidden,
  );
  assertEquals(findings("session/a.ts", 'export { x } from "../acp/serve.ts";'), forbidden);
  assertEquals(findings("session/a.ts", 'export * from "../acp/serve.ts";'), forbidden);
  assertEquals(findings("session/a.ts", 'await import("../acp/serve.ts");'), forbidden);
});

Deno.test("stdout, the machine and the clock are used only where they belong", async (t) => {
  const table: readonly (readonly [file: string, source: string, finding?: string])[] = [
    ["acp/stdio.ts", "Deno.stdout.writable;"],
    ["cli/screen.ts", "Deno.stdout.writeSync(b);"],
    ["acp/serve.ts", "Deno.stdout.writable;", '"acp" may not use "Deno.stdout"'],
    ["engine/workbench/run.ts", "Deno.stdout.writable;", '"engine/workbench" may not use "Deno.stdout"'],
    [
      "engine/workbench/run.ts",
      "process.stdout.write(b);",
      '"engine/workbench" may not use "process.stdout"',
    ],
    ["resource/scope.ts", "Deno.lstatSync(p);"],
    ["session/prompt.ts", "Deno.lstatSync(p);", '"session" may not use "Deno.lstatSync"'],
    ["session/prompt.ts", "e instanceof Deno.errors.NotFound;"],
    ["projection/card.ts", "setTimeout(f, 1);", '"projection" may not use "setTimeout"'],
    ["projection/card.ts", "Date.now();", '"projection" may not use "Date.now"'],
    ["projection/card.ts", "new Date();", '"projection" may not use "new Date"'],
    ["projection/card.ts", "new Date(1);"],
    ["session/prompt.ts", "crypto.randomUUID();", '"session" may not use "crypto.randomUUID"'],
  ];
  for (const [file, source, finding] of table) {
    await t.step(`${file}: ${source}`, () => {
      assertEquals(findings(file, source), finding === undefined ? [] : [finding]);
    });
  }
});

Deno.test("files outside of src are free", () => {
  assertEquals(Deno.lint.runPlugin(plugin, "/project/tests/a_test.ts", "Deno.stdout.writable;"), []);
});
