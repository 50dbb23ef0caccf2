import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/model/json.ts";
import { type Answers, choose, NEVER } from "../support/answers.ts";
import { openSession, tell } from "../support/talk.ts";
import { cardText } from "../support/screen.ts";
import { withEditor } from "../support/editor.ts";
import { withFolder } from "../support/launch.ts";

const SERVICES: JsonObject = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

/** An editor with unsaved files and terminals of its own. */
class Desk {
  readonly files: Map<string, string> = new Map();
  readonly terminals: Map<string, "running" | "killed" | "released"> = new Map();
  /** Whether commands end by themselves. */
  ends = true;

  readonly answers: Answers = {
    ...choose("allow_once"),
    "fs/read_text_file": ({ path }) => ({ content: this.files.get(String(path)) ?? "" }),
    "fs/write_text_file": ({ path, content }) => {
      this.files.set(String(path), String(content));
      return {};
    },
    "terminal/create": () => {
      const terminalId = `terminal-${this.terminals.size + 1}`;
      this.terminals.set(terminalId, "running");
      return { terminalId };
    },
    "terminal/wait_for_exit": () => this.ends ? { exitCode: 4 } : NEVER,
    "terminal/output": () => ({ output: "from the editor's terminal\n", truncated: false }),
    "terminal/kill": ({ terminalId }) => {
      this.terminals.set(String(terminalId), "killed");
      return {};
    },
    "terminal/release": ({ terminalId }) => {
      this.terminals.set(String(terminalId), "released");
      return {};
    },
  };
}

Deno.test("[K10] [C7] files and commands go through the editor where it offers that", async (t) => {
  await withFolder(async (cwd) => {
    const desk = new Desk();
    await withEditor({ capabilities: SERVICES, answers: desk.answers }, async (editor) => {
      const sessionId = await openSession(editor, cwd);

      await t.step("an unsaved file is read and edited", async () => {
        desk.files.set(`${cwd}/unsaved.txt`, "one\ntwo\n");
        const { stopReason, screen } = await tell(
          editor,
          sessionId,
          "/read unsaved.txt\n/edit unsaved.txt two => 2",
        );
        assertEquals([stopReason, ...screen.cards.map(({ status }) => status)], [
          "end_turn",
          "completed",
          "completed",
        ]);
        assertStringIncludes(cardText(screen.cards[0]!), "two");
        assertEquals(desk.files.get(`${cwd}/unsaved.txt`), "one\n2\n");
        assertEquals(await Deno.stat(`${cwd}/unsaved.txt`).then(() => true, () => false), false);
      });

      await t.step("a command runs in a terminal that is shown and released", async () => {
        const { stopReason, screen } = await tell(editor, sessionId, "/run make");
        const [card] = screen.cards;
        assertEquals([stopReason, card?.status], ["end_turn", "failed"]);
        assert(card?.content.some((part) => part.type === "terminal" && part.terminalId === "terminal-1"));
        assertEquals([...desk.terminals.values()], ["released"]);
      });

      await t.step("a cancel ends the command and releases its terminal", async () => {
        desk.ends = false;
        const from = editor.wire.count;
        const turn = tell(editor, sessionId, "/run make forever");
        await editor.asked("terminal/wait_for_exit", from);
        const started = performance.now();
        editor.notify("session/cancel", { sessionId });
        const { stopReason } = await turn;
        assertEquals(stopReason, "cancelled");
        assert(performance.now() - started < 1000);
        await editor.asked("terminal/release", from);
        assertEquals([...desk.terminals.values()].at(-1), "released");
        desk.ends = true;
        assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
      });
    });
  });
});
