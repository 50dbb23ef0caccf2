import { assert, assertEquals } from "@std/assert";
import { type Editor, withEditor } from "../../support/editor.ts";
import { openSession, promptParams, tell } from "../../support/talk.ts";
import { choose, NEVER, permission } from "../../support/answers.ts";
import type { Json } from "../../../src/model/json.ts";
import type { House } from "./house.ts";
import { screenOf, textOf } from "../../support/screen.ts";
import { withHouse } from "./house.ts";

/** How an editor's Gangway ends. */
const LEAVINGS: readonly { readonly name: string; leave(editor: Editor): Promise<void> }[] = [
  { name: "at the end of its input", leave: (editor) => editor.finish({ unanswered: true }) },
  {
    name: "by SIGTERM",
    leave: async (editor) => {
      editor.signal("SIGTERM");
      await editor.finish({ unanswered: true, code: 143 });
    },
  },
  { name: "by kill -9", leave: (editor) => editor.kill() },
];

const NONE = new AbortController().signal;

const says = (text: string) => (update: Record<string, unknown>) =>
  update.sessionUpdate === "agent_message_chunk" && JSON.stringify(update.content).includes(text);

/** Begins a prompt in an editor that is then gone. */
async function leaveBehind(
  house: House,
  leave: (editor: Editor) => Promise<void>,
  prompt: string,
  begun: (editor: Editor, sessionId: string) => Promise<unknown>,
): Promise<string> {
  let sessionId = "";
  await withEditor({ launch: house.editor(), answers: permission(NEVER) }, async (editor) => {
    sessionId = await openSession(editor, house.cwd);
    editor.call("session/prompt", promptParams(sessionId, prompt)).catch(() => {});
    await begun(editor, sessionId);
    await leave(editor);
  });
  return sessionId;
}

for (const { name, leave } of LEAVINGS) {
  Deno.test(`[W1] an editor that ends ${name} stops no Turn; the next one that loads shows it live`, async () => {
    await withHouse(async (house) => {
      const sessionId = await leaveBehind(
        house,
        leave,
        "/say begun\n/run while [ ! -e go ]; do sleep 0.05; done\n/say ended",
        async (editor, sessionId) => {
          const { id, params } = await editor.asked("session/request_permission");
          editor.reply(id, await choose("allow_once")["session/request_permission"]!(params, NONE) as Json);
          await editor.updated(sessionId, (update) => update.status === "in_progress", "the command");
        },
      );
      await withEditor({ launch: house.editor() }, async (editor) => {
        await editor.initialize();
        editor.wire.rules.expectLive(sessionId);
        await editor.request("session/load", { sessionId, cwd: house.cwd, mcpServers: [] });
        assertEquals(textOf(screenOf(editor.wire.entries, sessionId, 0)), "begun");
        const from = editor.wire.count;
        await Deno.writeTextFile(`${house.cwd}/go`, "");
        await editor.updated(sessionId, says("ended"), "what the Turn says last", from);
        assertEquals((await tell(editor, sessionId, "/say next")).stopReason, "end_turn");
      });
    });
  });

  Deno.test(`[W1] the next editor gets the open question of one that ended ${name}`, async () => {
    await withHouse(async (house) => {
      const sessionId = await leaveBehind(
        house,
        leave,
        "/run touch done\n/say after",
        (editor) => editor.asked("session/request_permission"),
      );
      await house.until(
        (status) => status?.sessions.some(({ waiting }) => waiting === 1) === true,
        "the question",
      );
      await withEditor({ launch: house.editor(), answers: choose("allow_once") }, async (editor) => {
        await editor.initialize();
        editor.wire.rules.expectLive(sessionId);
        await editor.request("session/load", { sessionId, cwd: house.cwd, mcpServers: [] });
        await editor.asked("session/request_permission");
        await editor.updated(sessionId, says("after"), "what follows the answer");
        assert((await Deno.stat(`${house.cwd}/done`)).isFile);
      });
    });
  });
}

for (const how of ["cancel", "close"] as const) {
  Deno.test(`[W1] ${how} stops the Turn`, async () => {
    await withHouse(async (house) => {
      await withEditor({ launch: house.editor() }, async (editor) => {
        const sessionId = await openSession(editor, house.cwd);
        const answer = editor.call("session/prompt", promptParams(sessionId, "/say begun\n/sleep 60000"));
        await editor.updated(sessionId, says("begun"), "begun");
        if (how === "cancel") editor.notify("session/cancel", { sessionId });
        else await editor.request("session/close", { sessionId });
        const ended = await answer;
        assert("result" in ended, JSON.stringify(ended));
        assertEquals((ended.result as { stopReason: string }).stopReason, "cancelled");
        await house.until(
          (status) => status?.sessions.every(({ running, waiting }) => running + waiting === 0) === true,
          "the Turn's end",
        );
      });
    });
  });
}
