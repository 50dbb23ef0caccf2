import { assert, assertEquals } from "@std/assert";
import { gangway, withFolder } from "../support/launch.ts";
import { link, newSession, tell } from "../support/talk.ts";
import { withEditor } from "../support/editor.ts";

Deno.test("[S9] secrets of MCP servers and contents of linked files reach no row, log or error", async () => {
  await withFolder(async (folder) => {
    const secrets = ["env-secret-81723", "header-secret-99120", "arg-of-file-55501"];
    const [env, header, contents] = secrets as [string, string, string];
    await Deno.mkdir(`${folder}/work`);
    await Deno.writeTextFile(`${folder}/work/notes.txt`, `the content is ${contents}\n`);
    const log = `${folder}/gangway.log`;
    const launch = gangway("--state", `${folder}/state`, "--log-level", "debug", "--log-file", log);
    await withEditor({ launch }, async (editor) => {
      await editor.initialize();
      const mcpServers = [{
        name: "files",
        command: "/bin/false",
        args: [],
        env: [{ name: "TOKEN", value: env }],
      }];
      const sessionId = await newSession(editor, `${folder}/work`, { mcpServers });
      const told = await tell(editor, sessionId, "what is this", link(`${folder}/work/notes.txt`));
      assertEquals(told.stopReason, "end_turn");
      // Every kind of failure is a chance to say too much.
      const refused = await editor.refused("session/new", {
        cwd: `${folder}/nowhere`,
        mcpServers: [{
          type: "http",
          name: "web",
          url: "https://example.com",
          headers: [{ name: "Authorization", value: header }],
        }],
      });
      await editor.refused("session/new", {
        cwd: `${folder}/work`,
        mcpServers: [{
          type: "http",
          name: "web",
          url: 7,
          headers: [{ name: "Authorization", value: header }],
        }],
      }, { judged: false });
      assertEquals(refused.code, -32602);
      const failed = await tell(editor, sessionId, "/fail on purpose");
      assert("error" in failed.answer);
      for (const entry of editor.wire.entries) {
        if (entry.from !== "agent") continue;
        for (const secret of secrets) assert(!entry.text.includes(secret), entry.text);
      }
    });
    const logged = await Deno.readTextFile(log);
    assert(logged.length > 0, "nothing was logged");
    for (const secret of secrets) assert(!logged.includes(secret), `"${secret}" is in the log`);
    for (const [path, bytes] of await filesBelow(`${folder}/state`)) {
      const text = new TextDecoder("latin1").decode(bytes);
      assert(!text.includes(env) && !text.includes(header), `a secret is in ${path}`);
      if (/\.db(-wal|-shm)?$/.test(path)) assert(!text.includes(contents), `the content is in ${path}`);
    }
  });
});

async function filesBelow(folder: string): Promise<readonly (readonly [string, Uint8Array])[]> {
  const found: (readonly [string, Uint8Array])[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...await filesBelow(path));
    else found.push([path, await Deno.readFile(path)]);
  }
  return found;
}
