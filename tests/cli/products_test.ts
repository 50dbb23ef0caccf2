import { assertEquals, assertStringIncludes } from "@std/assert";
import { bundle, prove } from "../../scripts/build.ts";
import config from "../../deno.json" with { type: "json" };
import { layOutStandIn } from "../../scripts/deno.ts";
import { ROOT, withFolder } from "../support/launch.ts";

/** A start without any permission. */
function start(module: string, env: Record<string, string> = {}) {
  const args = ["run", "--quiet", "--no-prompt", module, "--memory"];
  return { program: Deno.execPath(), args, env };
}

Deno.test("[D1] the bundle is one file that needs no other and no permission, from the disk and from a URL", async (t) => {
  await withFolder(async (folder) => {
    const file = `${folder}/gangway.js`;
    await bundle(file);
    // An empty cache shows that nothing is fetched but the file itself.
    const env = {
      DENO_DIR: `${folder}/cache`,
      JSR_URL: "http://127.0.0.1:9/",
      NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/",
    };
    await t.step("from the disk", async () => await prove(start(file, env)));
    await t.step("from a URL", async () => {
      const body = await Deno.readFile(file);
      const headers = { "content-type": "text/javascript" };
      const server = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen: () => {} },
        () => new Response(body, { headers }),
      );
      try {
        await prove(start(`http://127.0.0.1:${server.addr.port}/gangway.js`, env));
      } finally {
        await server.shutdown();
      }
    });
  });
});

Deno.test("[D1] the package runs as JSR would serve it, without any permission", async () => {
  await withFolder(async (folder) => {
    await layOutStandIn(folder);
    await layOutPackage(`${folder}/@gangway/acp`);
    await prove(start("jsr:@gangway/acp", { JSR_URL: `file://${folder}/` }));
  });
});

Deno.test("a product that answers no prompt is not taken for built", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/broken.js`, "console.error('broken');");
    let told = "";
    await prove(start(`${folder}/broken.js`)).catch((error: Error) => told = error.message);
    assertStringIncludes(told, "broken");
  });
});

/** Lays the published files out as JSR does: with the names of the import map replaced by what they stand for. */
async function layOutPackage(folder: string): Promise<void> {
  const { version, exports, imports } = config;
  const json = (name: string, value: unknown) =>
    Deno.writeTextFile(`${folder}/${name}`, JSON.stringify(value));
  await Deno.mkdir(folder, { recursive: true });
  await json("meta.json", { scope: "gangway", name: "acp", latest: version, versions: { [version]: {} } });
  await json(`${version}_meta.json`, { manifest: {}, exports });
  const args = ["publish", "--dry-run", "--allow-dirty", "--no-check"];
  const { stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env: { NO_COLOR: "1" } })
    .output();
  const files = [...new TextDecoder().decode(stderr).matchAll(/file:\/\/(\S+) \(/g)].map(([, path = ""]) =>
    path
  );
  assertEquals(files.includes(`${ROOT}mod.ts`), true, "the dry run lists what is published");
  for (const path of files) {
    const to = `${folder}/${version}/${path.slice(ROOT.length)}`;
    await Deno.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true });
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(to, path.endsWith(".ts") ? withFullNames(text, imports) : text);
  }
}

function withFullNames(source: string, imports: Readonly<Record<string, string>>): string {
  return source.replaceAll(
    /(from |import\(|import )"([^."][^"]*)"/g,
    (whole, before: string, name: string) => {
      const [known, target] =
        Object.entries(imports).find(([known]) => name === known || name.startsWith(`${known}/`)) ?? [];
      return known === undefined ? whole : `${before}"${target}${name.slice(known.length)}"`;
    },
  );
}
