import { assert, assertEquals, assertMatch } from "@std/assert";
import { gangway, withFolder } from "../support/launch.ts";
import { newSession, openSession, tell } from "../support/talk.ts";
import { fields } from "../support/rules.ts";
import { cardText, textOf } from "../support/screen.ts";
import { choose } from "../support/answers.ts";
import { withEditor } from "../support/editor.ts";

Deno.test("[T2] text that the agent takes back fails its prompt and nothing else", async () => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      for (let round = 0; round < 3; round++) {
        const { answer, screen } = await tell(editor, sessionId, "/say first\n/rewrite second\n/say third");
        assert("error" in answer, JSON.stringify(answer));
        assertEquals([answer.error.code, fields(answer.error.data).code], [
          -32603,
          "unsupported_stream_revision",
        ]);
        assert(!textOf(screen).includes("second") && !textOf(screen).includes("third"));
        assertEquals(textOf((await tell(editor, sessionId, "/say on")).screen), "on");
      }
    });
  });
});

Deno.test("[K6] more tools than a prompt shows fail it on purpose", async () => {
  await withFolder(async (cwd) => {
    await withEditor({ deadlineMs: 30_000, keep: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const { answer } = await tell(editor, sessionId, "/tools 4097");
      assert("error" in answer, JSON.stringify(answer).slice(0, 200));
      assertEquals(fields(answer.error.data).code, "tool_presentation_capacity");
      assertMatch(answer.error.message, /4096|tool/);
      assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
    });
  });
});

Deno.test("[K8] a tool that floods costs the wire at most three times what it wrote, a slow Client too", async (t) => {
  await withFolder(async (folder) => {
    const bytes = 4 * 1024 * 1024;
    await withEditor(
      { launch: gangway("--state", `${folder}/state`), deadlineMs: 30_000 },
      async (editor) => {
        await editor.initialize();
        for (const slow of [false, true]) {
          await t.step(slow ? "slow" : "fast", async () => {
            const sessionId = await newSession(editor, folder);
            let wire = 0;
            const stop = editor.wire.watch((entry) => wire += entry.from === "agent" ? entry.bytes : 0);
            if (slow) editor.hold();
            const turn = tell(editor, sessionId, `/flood ${bytes}`);
            if (slow) await new Promise((resolve) => setTimeout(resolve, 500));
            editor.release();
            const { answer } = await turn;
            stop();
            // More than a prompt shows fails it on purpose; either way the wire is spared.
            const outcome = "error" in answer
              ? fields(answer.error.data).code
              : fields(answer.result).stopReason;
            assert(
              ["end_turn", "tool_presentation_capacity"].includes(String(outcome)),
              JSON.stringify(answer),
            );
            assert(wire <= 3 * bytes, `${wire} bytes for ${bytes}`);
          });
        }
      },
    );
  });
});

Deno.test("[K8] a tool that writes often is shown at most five times a second and three times over, its last words always", async () => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: choose("allow_once") }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const words = "x".repeat(190);
      const command = `for i in $(seq 1 80); do echo line $i ${words}; sleep 0.01; done`;
      let wire = 0;
      const stop = editor.wire.watch(({ text, bytes }) =>
        wire += text.includes("tool_call_update") ? bytes : 0
      );
      const { stopReason, screen, ms } = await tell(editor, sessionId, `/run ${command}`);
      stop();
      const [card] = screen.cards;
      assertEquals([stopReason, card?.status], ["end_turn", "completed"]);
      // Besides the paced ones: the first output and the end.
      const most = 5 * ms / 1000 + 5;
      assert(card !== undefined && card.updates <= most, `${card?.updates} updates in ${ms.toFixed(0)} ms`);
      // A short output may cost somewhat more, so that it is lively too.
      const produced = 80 * (words.length + 9);
      assert(wire <= 3 * produced + 8 * 1024, `${wire} bytes for ${produced}`);
      assert(cardText(card).includes("line 80"));
    });
  });
});

Deno.test("a background Run outlives the cancel of the prompt that began it", async () => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const turn = tell(editor, sessionId, "/background 400 from behind\n/say go\n/sleep 60000");
      await editor.updated(sessionId, (update) => fields(update.content).text === "go", "a word");
      editor.notify("session/cancel", { sessionId });
      assertEquals((await turn).stopReason, "cancelled");
      // It is shown with a later prompt, since v1 has no place for it between prompts.
      const { stopReason, screen } = await tell(editor, sessionId, "/sleep 1000\n/say on");
      assertEquals(stopReason, "end_turn");
      const later = await tell(editor, sessionId, "/say again");
      const said = `${textOf(screen)}\n${textOf(later.screen)}`;
      assert(said.includes("from behind"), said);
    });
  });
});
