import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { agentCommand, type House, withHouse } from "./house.ts";
import { type Editor, withEditor } from "../../support/editor.ts";
import { newSession, openSession, tell } from "../../support/talk.ts";
import { gone } from "../../engine/gone.ts";
import type { Launch } from "../../support/launch.ts";
import { script } from "../../support/launch.ts";
import { textOf } from "../../support/screen.ts";

async function said(editor: Editor, sessionId: string, prompt: string): Promise<string> {
  return textOf((await tell(editor, sessionId, prompt)).screen);
}

/** An editor whose configuration names agents. */
async function configured(
  house: House,
  name: string,
  agents: Record<string, Record<string, unknown>>,
  env: Record<string, string> = {},
): Promise<Launch> {
  const [command = "", ...args] = agentCommand([house.cwd]);
  const file = `${house.cwd}/${name}.json`;
  const entries = Object.entries(agents).map(([id, more]) => [id, { command, args, ...more }]);
  await Deno.writeTextFile(file, JSON.stringify({ agents: Object.fromEntries(entries), host: "auto" }));
  const launch = script(
    "mod.ts",
    "--state",
    house.state,
    "--config",
    file,
    "--agent",
    Object.keys(agents)[0] ?? "",
  );
  return { ...launch, env: { ...launch.env, ...env } };
}

Deno.test("[S9] [W1] an agent has the common variables of its Session's editor and those that are named, and no others", async () => {
  await withHouse(async (house) => {
    const editors = await Promise.all(
      ["one", "two"].map((name) =>
        configured(house, name, { mine: { passEnv: ["MY_KEY"], env: { FIXED: name } }, other: {} }, {
          MY_KEY: `key of ${name}`,
          OTHER_KEY: "not named",
          LANG: `${name}.UTF-8`,
          // The Host is started by the first one, and has it too.
          ...(name === "one" && { VOLTA_HOME: "home of one" }),
        })
      ),
    );
    const tellMe = "env MY_KEY OTHER_KEY FIXED LANG VOLTA_HOME";
    const homes: Record<string, string> = { one: "home of one", two: Deno.env.get("VOLTA_HOME") ?? "none" };
    const expected = (name: string) =>
      `MY_KEY=key of ${name} OTHER_KEY=none FIXED=${name} LANG=${name}.UTF-8 VOLTA_HOME=${homes[name]}`;
    await withEditor({ launch: editors[0]!, deadlineMs: 30_000 }, async (one) => {
      await withEditor({ launch: editors[1]!, deadlineMs: 30_000 }, async (two) => {
        const first = await openSession(one, house.cwd);
        const second = await openSession(two, house.cwd);
        assertEquals(await said(one, first, tellMe), expected("one"));
        assertEquals(await said(two, second, tellMe), expected("two"));
        assertEquals(await said(one, first, tellMe), expected("one"));
        // What is written down for the next Host holds no variable's value.
        for (const file of ["host/agents.json", "host/log"]) {
          const text = await Deno.readTextFile(`${house.state}/${file}`);
          assert(!text.includes("key of"), `${file} holds a secret`);
        }
        const shared = await newSession(one, house.cwd);
        assertEquals(await said(one, shared, "pid"), await said(one, first, "pid"), "one process for both");
      });
    });
  });
});

Deno.test("[W1] a Session goes on with its agent under a later Host, also from an editor that does not name it", async () => {
  await withHouse(async (house) => {
    let sessionId = "";
    const launch = await configured(house, "one", { mine: {} });
    await withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
      sessionId = await openSession(editor, house.cwd);
      assertEquals(await said(editor, sessionId, "hello"), "hello");
    });
    const pid = await house.hostPid();
    assertEquals((await house.run("host", "stop")).code, 0);
    await gone([pid]);
    await withEditor({ launch: house.editor(), deadlineMs: 30_000 }, async (editor) => {
      await editor.initialize();
      await editor.request("session/load", { sessionId, cwd: house.cwd, mcpServers: [] });
      assertStringIncludes(await said(editor, sessionId, "words"), house.cwd);
    });
  });
});

Deno.test("[E3] [W1] an agent ends with the last Session that needs it, while the Host goes on", async () => {
  await withHouse(async (house) => {
    const launch = house.withAgent([house.cwd]);
    await withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
      const first = await openSession(editor, house.cwd);
      const second = await newSession(editor, house.cwd);
      const pid = Number(await said(editor, first, "pid"));
      assertEquals(Number(await said(editor, second, "pid")), pid);
      await editor.request("session/close", { sessionId: first });
      assertEquals(Number(await said(editor, second, "pid")), pid);
      await editor.request("session/close", { sessionId: second });
      await gone([pid]);
      assert(await house.status() !== undefined);
    });
  });
});
