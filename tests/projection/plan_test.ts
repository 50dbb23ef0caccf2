import { assertEquals, assertMatch } from "@std/assert";
import { ALL, BARE, input, projection, row, RUN } from "./frames.ts";
import type { Frame } from "../../src/model/frame.ts";
import type { PlanEntry } from "../../src/model/plan.ts";
import { Editor } from "./editor.ts";

function entries(...contents: string[]): PlanEntry[] {
  return contents.map((content) => ({ content, priority: "medium", status: "pending" }));
}

function plan(...contents: string[]): Frame {
  return { type: "plan", run: RUN, entries: entries(...contents) };
}

function notice(title: string, severity: "info" | "warning" | "error", text?: string): Frame {
  return { type: "notice", run: RUN, severity, title, text };
}

function plans(editor: Editor): string[] {
  return editor.updates.filter((update) => update.sessionUpdate === "plan")
    .map((update) => (update.entries ?? []).map((entry) => entry.content).join());
}

Deno.test("[P3] a plan is sent whole each time it changes, and ends as it was recorded", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(plan("a"), 0));
  editor.take(shown.apply(plan("a"), 0));
  editor.take(shown.apply(plan("a", "b"), 0));
  editor.take(shown.read(row({ kind: "plan", entries: entries("a") }, "p"), 0));
  assertEquals(plans(editor), ["a", "a,b"], "a row that lags behind shows nothing");
  editor.take(shown.read(row({ kind: "plan", entries: entries("a", "b", "c") }, "p"), 0));
  editor.take(shown.apply(plan("z"), 0));
  editor.take(shown.finish({ how: "stopped", by: "c" }, 0));
  assertEquals(plans(editor), ["a", "a,b", "a,b,c", "z", "a,b,c"]);
});

Deno.test("[H3] an interrupted Run's plan does not go back to an older one", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(plan("a"), 0));
  editor.take(shown.apply(plan("b"), 0));
  editor.take(shown.read(row({ kind: "plan", entries: entries("a") }, "p"), 0));
  editor.take(shown.finish({ how: "interrupted" }, 0));
  assertEquals(plans(editor), ["a", "b"]);
});

Deno.test("[A1] a plan that is too large for a line is cut, and too many entries are counted", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(plan(...Array<string>(255).fill("語".repeat(5000))), 0));
  assertEquals(editor.updates.at(-1)?.entries?.length, 255);
  editor.take(shown.apply(plan(...Array<string>(1000).fill("step")), 0));
  assertEquals(editor.updates.at(-1)?.entries?.length, 256);
  assertEquals(editor.updates.at(-1)?.entries?.at(-1)?.content, "745 more steps");
});

Deno.test("[H1] a notice is shown once, live or from its row, and as often as it was given", () => {
  const editor = new Editor();
  const shown = projection(ALL);
  const rows = ["n1", "n2", "n3"].map((id) => row({ kind: "notice", severity: "info", title: "again" }, id));
  editor.take(shown.apply(notice("again", "info"), 0));
  editor.take(shown.apply(notice("again", "info"), 0));
  for (const part of [...rows, ...rows]) editor.take(shown.read(part, 0));
  editor.take(shown.apply(notice("again", "info"), 0));
  assertEquals(editor.updates.map((update) => [update.sessionUpdate, update.title]), [
    ["notice", "again"],
    ["notice", "again"],
    ["notice", "again"],
  ]);
});

Deno.test("[H1] an editor without notices gets a card that says what it is, never words of the agent", () => {
  const editor = new Editor();
  const shown = projection(BARE);
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(notice("Link only", "warning", "The file was passed on as a link"), 0));
  editor.take(shown.apply(notice("Broken", "error"), 0));
  assertEquals(editor.texts.size, 0);
  const cards = [...editor.cards.values()].slice(1);
  assertEquals(cards.map((card) => [card.toolCallId, card.title, card.kind, card.status, card._meta]), [
    ["turn.notice.0", "Link only", "other", "completed", { gangway: { notice: "warning" } }],
    ["turn.notice.1", "Broken", "other", "failed", { gangway: { notice: "error" } }],
  ]);
  assertMatch(editor.words("turn.notice.0"), /passed on as a link/);
});

Deno.test("[H1] compactions are shown only where the editor has them", () => {
  const frame: Frame = { type: "compaction", run: RUN, compactionId: "c", status: "in_progress" };
  for (const shows of [ALL, BARE]) {
    const editor = new Editor();
    editor.take(projection(shows).apply(frame, 0));
    assertEquals(editor.updates.length, shows.compaction ? 1 : 0);
  }
});
