import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { alive, gone } from "../gone.ts";
import { type Answers, NEVER } from "../../support/answers.ts";
import { type Editor, withEditor } from "../../support/editor.ts";
import { newSession, openSession, promptParams, stopReasonOf, tell } from "../../support/talk.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { script } from "../../support/launch.ts";
import { scripted } from "./stage.ts";

const ALL_SERVICES: JsonObject = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {}, url: {} },
};
const FORM = { requestedSchema: { type: "object", properties: { a: { type: "string" } } } };
const PERMISSION = {
  toolCall: { toolCallId: "t", title: "x" },
  options: [{ optionId: "o", name: "O", kind: "allow_once" }],
};

/** Waits until the agent is where it is to be killed. */
type Moment = (editor: Editor, sessionId: string, from: number) => Promise<unknown>;

const asked = (method: string): Moment => (editor, _, from) => editor.asked(method, from);
const shown = (text: string): Moment => (editor, sessionId, from) =>
  editor.updated(sessionId, (update) => JSON.stringify(update).includes(text), text, from);

const steps: readonly {
  readonly name: string;
  readonly prompt: string;
  readonly at: Moment;
  readonly capabilities?: JsonObject;
  /** Cancels before the agent is killed. */
  readonly cancel?: true;
}[] = [
  {
    name: "with the prompt in hand",
    prompt: 'update {"sessionUpdate":"usage_update","used":3,"size":7}\nhang',
    at: shown("usage_update"),
  },
  { name: "in a message", prompt: "say mid\nhang", at: shown('"mid"') },
  {
    name: "in a tool",
    prompt: 'update {"sessionUpdate":"tool_call","toolCallId":"t","title":"x","status":"in_progress"}\nhang',
    at: shown('"tool_call"'),
  },
  {
    name: "in a permission",
    prompt: `ask session/request_permission ${JSON.stringify(PERMISSION)}`,
    at: asked("session/request_permission"),
  },
  {
    name: "in a form",
    prompt: `ask elicitation/create ${JSON.stringify(FORM)}`,
    at: asked("elicitation/create"),
  },
  {
    name: "while it reads a file",
    prompt: 'ask fs/read_text_file {"path":"/a"}',
    at: asked("fs/read_text_file"),
  },
  {
    name: "at a terminal of the editor",
    prompt: 'ask terminal/create {"command":"ls"}\nask terminal/wait_for_exit {"terminalId":"term-1"}',
    at: asked("terminal/wait_for_exit"),
  },
  {
    name: "at a terminal here",
    capabilities: {},
    prompt: 'ask terminal/create {"command":"sleep 1000"}\n' +
      'ask terminal/wait_for_exit {"terminalId":"gangway-terminal-1"}',
    at: shown("gangway-terminal-1"),
  },
  { name: "behind a cancel", prompt: "say mid\nhang", at: shown('"mid"'), cancel: true },
];

for (const { name, prompt, at, capabilities = ALL_SERVICES, cancel } of steps) {
  Deno.test(`[E2] [E3] an agent that is killed ${name} ends the prompt truly, leaves nothing, and the next prompt works`, async () => {
    const freed: string[] = [];
    const answers: Answers = {
      "session/request_permission": () => NEVER,
      "elicitation/create": () => NEVER,
      "fs/read_text_file": () => NEVER,
      "terminal/create": () => ({ terminalId: "term-1" }),
      "terminal/wait_for_exit": () => NEVER,
      "terminal/kill": () => ({}),
      "terminal/release": ({ terminalId }) => {
        freed.push(String(terminalId));
        return {};
      },
    };
    const { program, args } = scripted();
    const launch = script("mod.ts", "--memory", "--", program, ...args);
    await withEditor({ launch, answers, capabilities, deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, Deno.cwd());
      const { screen } = await tell(editor, sessionId, "spawn");
      const pids = screen.messages[0]?.text.split(" ").map(Number) ?? [];
      assert(pids.length === 2 && pids.every(alive));
      const from = editor.wire.count;
      const answer = editor.call("session/prompt", promptParams(sessionId, prompt));
      await at(editor, sessionId, from);
      if (cancel === true) editor.notify("session/cancel", { sessionId });
      Deno.kill(pids[0]!, "SIGKILL");
      const told = await answer;
      if (cancel === true) assertEquals(stopReasonOf(told), "cancelled");
      else {
        assert("error" in told, JSON.stringify(told));
        assertStringIncludes(told.error.message, "killed");
        assertEquals((told.error.data as JsonObject).failure, "engine_gone");
      }
      await gone(pids);
      const next = await tell(editor, sessionId, "say again");
      assertEquals([next.stopReason, next.screen.messages.at(-1)?.text], ["end_turn", "again"]);
      if (name.includes("of the editor")) assertEquals(freed, ["term-1"]);
    });
  });
}

Deno.test("[E2] fifty Sessions share one agent; when it is killed in a prompt of each, each is told and goes on", async () => {
  const { program, args } = scripted();
  const launch = script("mod.ts", "--memory", "--", program, ...args);
  await withEditor({ launch, deadlineMs: 60_000 }, async (editor) => {
    const ids = [await openSession(editor, Deno.cwd())];
    while (ids.length < 50) ids.push(await newSession(editor, Deno.cwd()));
    const said = await Promise.all(
      ids.map(async (id) => (await tell(editor, id, "session")).screen.messages[0]?.text),
    );
    assertEquals(new Set(said).size, 50);
    const pids = new Set(said.map((each) => Number(each?.split("-")[0])));
    assertEquals(pids.size, 1);
    const from = editor.wire.count;
    const answers = ids.map((id) => editor.call("session/prompt", promptParams(id, `say mid ${id}\nhang`)));
    for (const id of ids) await shown(`mid ${id}`)(editor, id, from);
    Deno.kill([...pids][0]!, "SIGKILL");
    for (const answer of await Promise.all(answers)) {
      assert("error" in answer);
      assertStringIncludes(answer.error.message, "killed");
    }
    const next = await Promise.all(ids.map((id) => tell(editor, id, `say again ${id}`)));
    assertEquals(next.map(({ screen }) => screen.messages.at(-1)?.text), ids.map((id) => `again ${id}`));
  });
});
