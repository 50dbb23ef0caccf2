import { assertEquals } from "@std/assert";
import { newSession, openSession, promptParams, stopReasonOf, tell } from "../../support/talk.ts";
import { call } from "../../../src/cli/daemon/caller.ts";
import { choose, NEVER, permission } from "../../support/answers.ts";
import type { House } from "./house.ts";
import { randomIds, systemClock } from "../../../src/system.ts";
import { RemoteHost } from "../../../src/host/wire/client.ts";
import { silentLog } from "../../../src/model/log.ts";
import { textOf } from "../../support/screen.ts";
import { withEditor } from "../../support/editor.ts";
import { withHouse } from "./house.ts";

const ROUNDS = 12;
const chunk = (text: string) => (update: Record<string, unknown>) =>
  update.sessionUpdate === "agent_message_chunk" && JSON.stringify(update.content).includes(text);

Deno.test("[W1] two editors and one Host: prompts, dialogs and cancels of both, again and again", async () => {
  await withHouse(async (house) => {
    const options = { launch: house.editor(), answers: choose("allow_once"), deadlineMs: 60_000 };
    await withEditor(options, async (one) => {
      await withEditor(options, async (two) => {
        const work = async (editor: typeof one, name: string) => {
          await editor.initialize();
          const sessions = [await newSession(editor, house.cwd), await newSession(editor, house.cwd)];
          for (let round = 0; round < ROUNDS; round++) {
            const sessionId = sessions[round % 2]!;
            const word = `${name}-${round}`;
            const told = await tell(editor, sessionId, `/say ${word}\n/run echo ${word} > ${word}`);
            assertEquals([told.stopReason, textOf(told.screen)], ["end_turn", word]);
            assertEquals(await Deno.readTextFile(`${house.cwd}/${word}`), `${word}\n`);
            const from = editor.wire.count;
            const cut = editor.call(
              "session/prompt",
              promptParams(sessionId, `/say cut-${word}\n/sleep 60000`),
            );
            await editor.updated(sessionId, chunk(`cut-${word}`), word, from);
            editor.notify("session/cancel", { sessionId });
            assertEquals(stopReasonOf(await cut), "cancelled");
          }
        };
        await Promise.all([work(one, "one"), work(two, "two")]);
      });
    });
  });
});

Deno.test("[W1] a question that is answered elsewhere is taken back from the editor, and the Turn goes on", async () => {
  await withHouse(async (house) => {
    const options = { launch: house.editor(), answers: permission(NEVER), deadlineMs: 30_000 };
    await withEditor(options, async (editor) => {
      const sessionId = await openSession(editor, house.cwd);
      const withdrawn = Promise.withResolvers<void>();
      editor.answer({
        "session/request_permission": (_, taken) => {
          taken.addEventListener("abort", () => withdrawn.resolve());
          return NEVER;
        },
      });
      const told = tell(editor, sessionId, "/run echo ran > ran\n/say after");
      await editor.asked("session/request_permission");
      const host = await terminal(house);
      const subscription = await host.sessions.open(sessionId, {
        readTextFile: false,
        writeTextFile: false,
        terminal: false,
        forms: false,
      });
      const [question] = subscription.snapshot.interactions;
      const interactionId = question?.interactionId ?? "";
      await host.interactions.answer({
        sessionId,
        interactionId,
        answer: { kind: "option", optionId: "allow_once" },
      });
      await editor.within(withdrawn.promise, "the dialog's end");
      assertEquals((await told).stopReason, "end_turn");
      assertEquals(await Deno.readTextFile(`${house.cwd}/ran`), "ran\n");
      await subscription.close();
      await host.close();
    });
  });
});

/** Somebody else at the same Host. */
function terminal(house: House): Promise<RemoteHost> {
  return RemoteHost.connect({
    dial: async (signal) => {
      const reached = await call({ kind: "state", folder: house.state }, { want: "host" }, signal);
      if (reached === undefined) throw new Error("no Host runs");
      return reached.stream;
    },
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
  });
}
