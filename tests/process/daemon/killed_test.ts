import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Editor, withEditor } from "../../support/editor.ts";
import { openSession, promptParams, tell } from "../../support/talk.ts";
import { screenOf, textOf } from "../../support/screen.ts";
import type { House } from "./house.ts";
import { gone } from "../../engine/gone.ts";
import { NEVER, permission } from "../../support/answers.ts";
import { withHouse } from "./house.ts";

/** A moment of a prompt: what is sent, and what shows that it has come. */
interface Step {
  readonly name: string;
  readonly prompt: string;
  /** Resolves with the agent's process id, where it told it. */
  reached(editor: Editor, sessionId: string, answer: Promise<unknown>): Promise<number | undefined>;
}

const chunk = (text: string) => (update: Record<string, unknown>) =>
  update.sessionUpdate === "agent_message_chunk" && JSON.stringify(update.content).includes(text);

const STEPS: readonly Step[] = [
  { name: "when it was just sent", prompt: "hang", reached: () => Promise.resolve(undefined) },
  {
    name: "while it works",
    prompt: "hang",
    async reached(editor, sessionId) {
      const update = await editor.updated(sessionId, chunk("hanging"), "the agent's first words");
      return Number(/hanging (\d+)/.exec(JSON.stringify(update))?.[1]);
    },
  },
  {
    name: "while it asks",
    prompt: "ask",
    async reached(editor) {
      await editor.asked("session/request_permission");
      return undefined;
    },
  },
  {
    name: "when it was answered",
    prompt: "hello",
    async reached(_editor, _sessionId, answer) {
      await answer;
      return undefined;
    },
  },
];

type Victim = "Host" | "editor's Gangway" | "agent";
const VICTIMS: readonly Victim[] = ["Host", "editor's Gangway", "agent"];

/** The process ids of the test's agent itself: those that are not a shell around it. */
function agentPids(house: House): readonly number[] {
  return house.processes().filter((pid) => {
    const words = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
    return words[0] !== "sh" && words.some((word) => word.endsWith("daemon/agent.ts")) &&
      !words.includes("--state");
  });
}

/** The next prompt is done, or said not to have reached the Host, which nobody knew to be gone; then the one after it is done. */
async function next(editor: Editor, sessionId: string): Promise<void> {
  const told = await tell(editor, sessionId, "next");
  if ("error" in told.answer) {
    assertStringIncludes(told.answer.error.message, "send it again");
    assertEquals((await tell(editor, sessionId, "next")).stopReason, "end_turn");
  } else assertEquals(told.stopReason, "end_turn");
}

for (const victim of VICTIMS) {
  for (const step of STEPS) {
    Deno.test(`[W3] kill -9 of the ${victim} ${step.name}: nothing acknowledged is lost, and the Session takes the next prompt`, async () => {
      await withHouse(async (house) => {
        const launch = house.withAgent([house.cwd]);
        const options = { launch, answers: permission(NEVER), deadlineMs: 60_000 };
        let sessionId = "";
        let pid: number | undefined;
        const first = new Editor(options);
        try {
          sessionId = await openSession(first, house.cwd);
          assertEquals((await tell(first, sessionId, "acknowledged")).stopReason, "end_turn");
          // An agent that is killed before it has the prompt is started again for it, and may do it.
          const early = victim === "agent" && step.name === "when it was just sent";
          const prompt = early ? "hello" : step.prompt;
          const answer = first.call("session/prompt", promptParams(sessionId, prompt));
          answer.catch(() => {});
          pid = await step.reached(first, sessionId, answer);
          if (victim === "editor's Gangway") await first.kill();
          else {
            const pids = victim === "Host" ? [await house.hostPid()] : agentPids(house);
            assert(pids.length > 0, "there is nobody to kill");
            for (const each of pids) Deno.kill(each, "SIGKILL");
            await gone(pids);
            // The Turn ends truly, and the same editor goes on.
            const ended = await answer;
            // A prompt that the victim did not get is refused as not sent, or done by who takes its place.
            const just = step.name === "when it was just sent";
            const unsent = just && "error" in ended && ended.error.message.includes("send it again");
            if (step.name !== "when it was answered" && !unsent && !(early && "result" in ended)) {
              const { data } = "error" in ended ? ended.error : { data: ended.result };
              const { code } = data as { code?: string };
              assert(["turn_interrupted", "turn_failed"].includes(code ?? ""), JSON.stringify(ended));
            }
            await next(first, sessionId);
            await first.finish();
          }
        } finally {
          if (!first.finished) await first.kill();
        }
        // A Turn that went on without its editor is stopped by the next one.
        await withEditor(options, async (second) => {
          await second.initialize();
          second.wire.rules.expectLive(sessionId);
          await second.request("session/load", { sessionId, cwd: house.cwd, mcpServers: [] });
          const shown = textOf(screenOf(second.wire.entries, sessionId, 0));
          assert(shown.includes("acknowledged"), shown);
          second.notify("session/cancel", { sessionId });
          await house.until(
            (status) => status?.sessions.every(({ running, waiting }) => running + waiting === 0) === true,
            "the Turn's end",
          );
          assertEquals((await tell(second, sessionId, "last")).stopReason, "end_turn");
        });
        if (pid !== undefined && victim === "agent") await gone([pid]);
      });
    });
  }
}
