import { assertEquals, assertMatch } from "@std/assert";
import {
  ALL,
  complete,
  delta,
  input,
  projection,
  record,
  result,
  RUN,
  superseded,
  textRow,
  texts,
  toolRow,
} from "./frames.ts";
import { Editor } from "./editor.ts";
import type { RunEnd } from "../../src/model/run.ts";
import { Replay } from "../../src/projection/mod.ts";

Deno.test("[K2] a replay shows nothing raw of a sensitive tool, whichever of row and input says that it is one", () => {
  const raw = { path: "x" };
  const cases = [
    { name: "plain", row: false, input: false, shows: [raw, raw] },
    { name: "sensitive by its row", row: true, input: false, shows: [undefined, undefined] },
    { name: "sensitive by its input", row: false, input: true, shows: [undefined, undefined] },
  ];
  for (const { name, row, input: inside, shows } of cases) {
    const editor = new Editor();
    const tool = record("t", { raw });
    const part = toolRow({ ...tool, input: { ...tool.input, raw, sensitive: inside } }, { sensitive: row });
    editor.take(new Replay({ abilities: ALL, redact: (text) => text, live: [] }).read(part, 0));
    assertEquals([editor.card("t").rawInput, editor.card("t").rawOutput], shows, name);
  }
});

Deno.test("[K4] a row that ended otherwise than its frame corrects the content and not the status", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(result("t"), 1));
  editor.take(shown.read(toolRow(record("t", { status: "failed", content: texts("from the row") })), 2));
  assertEquals([editor.card("t").status, editor.words("t")], ["completed", "from the row"]);
});

Deno.test("[T3] a message that ended before another took its place is missed by nobody", () => {
  const editor = new Editor();
  const shown = projection();
  const frames = [
    delta("m1", 0, "first"),
    complete("m1", "first"),
    superseded("m1", "m2"),
    delta("m2", 0, "so"),
  ];
  for (const frame of frames) editor.take(shown.apply(frame, 0));
  editor.take(shown.read(textRow("m1", "first"), 0));
  const { fault } = editor.take(shown.finish({ how: "completed", stopReason: "end_turn" }, 0));
  assertEquals([fault, editor.text("m1"), editor.text("m2")], [undefined, "first", "so"]);
});

Deno.test("[R1] a row that goes beyond what was shown brings its rest alone", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m", 0, "one "), 0));
  for (const text of ["one two", "one two three"]) {
    const step = editor.take(shown.read(textRow("m", text, { complete: false }), 0));
    assertEquals([step.gap, step.fault], [false, undefined]);
  }
  assertEquals(editor.text("m"), "one two three");
});

Deno.test("[T2] [H3] only the rows of an interrupted Turn may keep less than was shown", () => {
  const ends: readonly RunEnd[] = [
    { how: "interrupted" },
    { how: "completed", stopReason: "end_turn" },
    { how: "stopped", by: "c" },
    { how: "failed", failure: { class: "engine", message: "x" } },
  ];
  for (const end of ends) {
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(delta("m", 0, "shown"), 0));
    editor.take(shown.apply({ type: "run_ended", run: RUN, end, through: 9 }, 0));
    const { fault } = editor.take(shown.read(textRow("m", "sho"), 0));
    assertEquals(fault?.code, end.how === "interrupted" ? undefined : "unsupported_stream_revision", end.how);
  }
});

Deno.test("[H1] [K9] a tool without a result is replayed with the words that it had when its Turn ended", () => {
  const ends: readonly [RunEnd, RegExp][] = [
    [{ how: "completed", stopReason: "end_turn" }, /^Interrupted: .*without a result/],
    [{ how: "stopped", by: "c" }, /^Cancelled: /],
    [{ how: "failed", failure: { class: "engine", message: "x" } }, /^Interrupted: .*failed/],
    [{ how: "interrupted" }, /^Interrupted: .*cut off/],
  ];
  for (const [end, says] of ends) {
    const [live, later] = [new Editor(), new Editor()];
    const shown = projection();
    live.take(shown.apply(input("t"), 0));
    live.take(shown.finish(end, 1));
    const cutShort = end.how === "interrupted" ? undefined : end.how;
    const part = toolRow({ ...record("t", {}, { open: true }), cutShort });
    later.take(new Replay({ abilities: ALL, redact: (text) => text, live: [] }).read(part, 0));
    assertMatch(later.words("t"), says);
    assertEquals([later.words("t"), later.card("t").status], [live.words("t"), "failed"]);
  }
});
