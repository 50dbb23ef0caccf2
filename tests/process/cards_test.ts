import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { cardText, screenOf, type ShownCard } from "../support/screen.ts";
import { choose, NEVER, permission, Refusal, type Reply } from "../support/answers.ts";
import { fields } from "../support/rules.ts";
import { openSession, promptParams, stopReasonOf, tell } from "../support/talk.ts";
import { withEditor } from "../support/editor.ts";
import { withFolder } from "../support/launch.ts";

function only(cards: readonly ShownCard[]): ShownCard {
  assertEquals(cards.length, 1);
  return cards[0]!;
}

Deno.test("[K1] a tool is one card from its announcement to its end", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: choose("allow_once") }, async (editor) => {
      const sessionId = await openSession(editor, cwd);

      await t.step("output grows on the one card", async () => {
        const steps = "/run echo first; sleep 0.5; echo second >&2; sleep 0.5; echo third";
        const { stopReason, screen } = await tell(editor, sessionId, steps);
        assertEquals(stopReason, "end_turn");
        const card = only(screen.cards);
        assertEquals(screen.kinds.filter((kind) => kind === "tool_call").length, 1);
        assertEquals(card.statuses.at(-1), "completed");
        assert(card.updates >= 3, `${card.updates} updates`);
        for (const word of ["first", "second", "third"]) assertStringIncludes(cardText(card), word);
      });

      await t.step("each snapshot holds what the one before it held", async () => {
        const from = editor.wire.count;
        await tell(editor, sessionId, "/run for i in 1 2 3 4 5 6; do echo line $i; sleep 0.15; done");
        let shown = "";
        for (const entry of editor.wire.entries.slice(from)) {
          const cards = screenOf([entry], sessionId).cards;
          const text = cards[0] === undefined ? "" : cardText(cards[0]);
          if (text === "") continue;
          const [before, after] = [shown, text].map((each) => each.replaceAll(/[`\s]|console|text/g, ""));
          assert(after!.startsWith(before!), `${JSON.stringify(shown)} then ${JSON.stringify(text)}`);
          shown = text;
        }
        assertStringIncludes(shown, "line 6");
      });

      await t.step("raw input is complete", async () => {
        const { screen } = await tell(editor, sessionId, "/run echo raw");
        assertEquals(fields(only(screen.cards).rawInput).command, "echo raw");
      });
    });
  });
});

Deno.test("[K9] no card is left open, however its Turn ends", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: choose("allow_once") }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      await t.step("cancelled", async () => {
        const turn = tell(editor, sessionId, "/run echo begun; sleep 60");
        await editor.updated(sessionId, (update) => JSON.stringify(update).includes("begun\\n"), "output");
        editor.notify("session/cancel", { sessionId });
        const { stopReason, screen } = await turn;
        assertEquals(stopReason, "cancelled");
        const card = only(screen.cards);
        assertEquals(card.status, "failed");
        assertStringIncludes(cardText(card), "begun");
        assertMatch(cardText(card), /cancel|stopp|interrupt/i);
      });
      await t.step("failed command", async () => {
        const { stopReason, screen } = await tell(editor, sessionId, "/run echo out; exit 3\n/say on");
        assertEquals(stopReason, "end_turn");
        assertEquals(only(screen.cards).status, "failed");
      });
      await t.step("refused", async () => {
        editor.answer(choose("reject_once"));
        const { screen } = await tell(editor, sessionId, "/write no.txt x");
        assertEquals(only(screen.cards).status, "failed");
      });
    });
  });
});

Deno.test("[K10] diffs, locations, kinds and exit codes are what happened", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: choose("allow_once") }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const diffsOf = (card: ShownCard) => card.content.filter((part) => part.type === "diff");

      await t.step("a new file", async () => {
        const { screen } = await tell(editor, sessionId, "/write sub.txt one\\ntwo\\n");
        const card = only(screen.cards);
        assertEquals(card.kind, "edit");
        assertEquals(card.locations.map((location) => location.path), [`${cwd}/sub.txt`]);
        const [diff] = diffsOf(card);
        assertEquals([diff?.path, diff?.oldText ?? null, diff?.newText], [
          `${cwd}/sub.txt`,
          null,
          "one\ntwo\n",
        ]);
        assertEquals(await Deno.readTextFile(`${cwd}/sub.txt`), "one\ntwo\n");
      });

      await t.step("one line of a CRLF file", async () => {
        await Deno.writeTextFile(`${cwd}/dos.txt`, "a\r\nb\r\nc\r\n");
        const { screen } = await tell(editor, sessionId, "/edit dos.txt b => B");
        const card = only(screen.cards);
        const [diff] = diffsOf(card);
        assertEquals([diff?.oldText, diff?.newText], ["a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"]);
        assertEquals(card.locations, [{ path: `${cwd}/dos.txt`, line: 2 }]);
        assertEquals(await Deno.readTextFile(`${cwd}/dos.txt`), "a\r\nB\r\nc\r\n");
      });

      await t.step("no diff of what did not change", async () => {
        const { screen } = await tell(editor, sessionId, "/edit dos.txt absent => present");
        assertEquals([only(screen.cards).status, diffsOf(only(screen.cards))], ["failed", []]);
      });

      await t.step("a diff far above a line is cut honestly", async () => {
        const big = Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join("\n");
        await Deno.writeTextFile(`${cwd}/big.txt`, big);
        const { stopReason, screen } = await tell(
          editor,
          sessionId,
          "/edit big.txt line 777\\n => LINE 777\\n",
        );
        assertEquals(stopReason, "end_turn");
        const card = only(screen.cards);
        assertEquals(card.status, "completed");
        assertStringIncludes(JSON.stringify(card.content), "LINE 777");
      });

      await t.step("reading", async () => {
        const { screen } = await tell(editor, sessionId, "/read dos.txt");
        const card = only(screen.cards);
        assertEquals([card.kind, card.locations.map(({ path }) => path)], ["read", [`${cwd}/dos.txt`]]);
      });

      await t.step("running", async () => {
        const { screen } = await tell(editor, sessionId, "/run exit 7");
        const card = only(screen.cards);
        assertEquals([card.kind, card.status], ["execute", "failed"]);
        assertStringIncludes(JSON.stringify([card.content, card.rawOutput]), "7");
      });

      await t.step("a plan is whole each time", async () => {
        const { screen } = await tell(editor, sessionId, "/plan dig | plant\n/say a\n/say b");
        assertEquals(screen.plan?.map(({ content, status }) => [content, status]), [
          ["dig", "completed"],
          ["plant", "completed"],
        ]);
      });
    });
  });
});

Deno.test("[I3] whatever is no offered choice approves nothing", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const outcome = (value: Json): Json => ({ outcome: value });
      const replies: readonly (readonly [name: string, reply: Reply])[] = [
        ["null", null],
        ["nothing", {}],
        ["a word", "allow_once"],
        ["a null outcome", outcome(null)],
        ["a word as outcome", outcome("selected")],
        ["an unknown option", outcome({ outcome: "selected", optionId: "allow_everything" })],
        ["an option's name instead of its id", outcome({ outcome: "selected", optionId: "Allow once" })],
        ["no option", outcome({ outcome: "selected" })],
        ["a number as option", outcome({ outcome: "selected", optionId: 0 })],
        ["a list as option", outcome({ outcome: "selected", optionId: ["allow_once"] })],
        ["a made-up outcome", outcome({ outcome: "approved", optionId: "allow_once" })],
        ["a made-up key", { selected: "allow_once" }],
        ["cancelled with an option", outcome({ outcome: "cancelled", optionId: "allow_once" })],
        ["an error", new Refusal(-32603, "The dialog crashed")],
        ["no such method", new Refusal(-32601, "Method not found")],
      ];
      for (const [at, [name, reply]] of replies.entries()) {
        await t.step(name, async () => {
          editor.answer(permission(reply));
          const { answer, screen } = await tell(editor, sessionId, `/write bad${at}.txt x`);
          for (const card of screen.cards) assertEquals(card.status, "failed");
          const made = await Deno.stat(`${cwd}/bad${at}.txt`).then(() => true, () => false);
          assertEquals(made, false, "the file was written");
          assert(stopReasonOf(answer) !== "end_turn", JSON.stringify(answer));
          editor.answer(choose("allow_once"));
          assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
        });
      }
      await t.step("a rejection is told and the Turn goes on", async () => {
        editor.answer(choose("reject_once"));
        const { stopReason, screen } = await tell(editor, sessionId, "/write rejected.txt x\n/say after");
        assertEquals([stopReason, screen.cards[0]?.status], ["end_turn", "failed"]);
        assertEquals(await Deno.stat(`${cwd}/rejected.txt`).then(() => true, () => false), false);
      });
    });
  });
});

Deno.test("[I9] a permission dialog follows its card, names the deed, and the card is left alone meanwhile", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: permission(NEVER) }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const deeds: readonly (readonly [steps: string, says: RegExp, path: string | undefined])[] = [
        ["/run echo spell", /echo spell/, undefined],
        ["/write notes.txt words", /notes\.txt/, `${cwd}/notes.txt`],
      ];
      for (const [steps, says, path] of deeds) {
        await t.step(steps, async () => {
          const from = editor.wire.count;
          const turn = editor.call("session/prompt", promptParams(sessionId, steps));
          const { id, params, index } = await editor.asked("session/request_permission", from);
          const card = fields(params.toolCall);
          const before = screenOf(
            editor.wire.entries.filter((entry) => entry.index < index),
            sessionId,
            from,
          );
          assertEquals(only(before.cards).toolCallId, card.toolCallId);
          assert(["pending", "in_progress"].includes(only(before.cards).status));
          assertMatch(String(card.title ?? only(before.cards).title), says);
          if (path !== undefined) {
            assertStringIncludes(JSON.stringify(card.locations ?? only(before.cards).locations), path);
          }
          const kinds = (params.options as readonly JsonObject[]).map((option) => option.kind);
          assertEquals(
            new Set(kinds),
            new Set(["allow_once", "allow_always", "reject_once", "reject_always"]),
          );
          editor.reply(id, { outcome: { outcome: "selected", optionId: "allow_once" } });
          assertEquals(stopReasonOf(await turn), "end_turn");
          assertEquals(only(screenOf(editor.wire.entries, sessionId, from).cards).status, "completed");
        });
      }
    });
  });
});
