import { assert, assertEquals } from "@std/assert";
import { complete, delta, fragments, projection, reset, row, RUN, superseded, textRow } from "./frames.ts";
import type { Channel } from "../../src/model/message.ts";
import type { Frame } from "../../src/model/frame.ts";
import type { Row } from "../../src/model/row.ts";
import type { Step } from "../../src/projection/mod.ts";
import { digestOf } from "../../src/model/digest.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";

const CHANNELS: readonly Channel[] = ["text", "thinking"];

Deno.test("[T1] deltas become chunks of their channel under the Host's message id", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m1", 0, "Hello "), 0));
  editor.take(shown.apply(delta("m2", 0, "hm", "thinking"), 0));
  editor.take(shown.apply(delta("m1", 6, "world"), 0));
  assertEquals(editor.updates.map((update) => [update.sessionUpdate, update.messageId, update.content]), [
    ["agent_message_chunk", "m1", { type: "text", text: "Hello " }],
    ["agent_thought_chunk", "m2", { type: "text", text: "hm" }],
    ["agent_message_chunk", "m1", { type: "text", text: "world" }],
  ]);
});

const REPLAYS: readonly { name: string; frames: Frame[]; sent: string[] }[] = [
  { name: "an equal replay", frames: [delta("m", 0, "abc"), delta("m", 0, "abc")], sent: ["abc"] },
  { name: "an earlier part", frames: [delta("m", 0, "abc"), delta("m", 1, "b")], sent: ["abc"] },
  { name: "a longer replay", frames: [delta("m", 0, "abc"), delta("m", 0, "abcde")], sent: ["abc", "de"] },
  { name: "an overlap", frames: [delta("m", 0, "abc"), delta("m", 2, "cde")], sent: ["abc", "de"] },
  { name: "an empty delta", frames: [delta("m", 0, ""), delta("m", 0, "a"), delta("m", 1, "")], sent: ["a"] },
  {
    name: "a replay after the end",
    frames: [delta("m", 0, "abc"), complete("m", "abc"), delta("m", 0, "abc"), complete("m", "abc")],
    sent: ["abc"],
  },
];

for (const { name, frames, sent } of REPLAYS) {
  Deno.test(`[T1] ${name} sends only what is new`, () => {
    const editor = new Editor();
    const shown = projection();
    for (const frame of frames) assertEquals(editor.take(shown.apply(frame, 0)).fault, undefined);
    assertEquals(editor.updates.map((update) => (update.content as { text: string }).text), sent);
  });
}

Deno.test("[T1] [R1] a delta beyond what was shown is a gap, and the transcript closes it", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m", 0, "one "), 0));
  const step = editor.take(shown.apply(delta("m", 8, "three"), 0));
  assertEquals([step.gap, step.updates.length, step.fault], [true, 0, undefined]);
  assertEquals(shown.held(), [{ kind: "text", id: "m", length: 4, sha256: digestOf("one ") }]);
  for (const part of fragments(textRow("m", "one two three four", { complete: false }), 5, 4)) {
    assertEquals(editor.take(shown.read(part, 0)).gap, false);
  }
  assertEquals(editor.text("m"), "one two three four");
  editor.take(shown.apply(delta("m", 8, "three four five"), 0));
  assertEquals(editor.text("m"), "one two three four five");
});

/** What contradicts text that was shown; each is given after "abcdef" went out, by the channel. */
const REVISIONS: readonly { name: string; by: (channel: Channel) => (Frame | Row)[] }[] = [
  { name: "a reset", by: (channel) => [reset("m", channel)] },
  { name: "another end", by: (channel) => [complete("m", "abcdeX", channel)] },
  { name: "a shorter end", by: (channel) => [complete("m", "abc", channel)] },
  { name: "an end with nothing", by: (channel) => [complete("m", "", channel)] },
  {
    name: "text after the end",
    by: (channel) => [complete("m", "abcdef", channel), delta("m", 6, "g", channel)],
  },
  {
    name: "a longer end after the end",
    by: (channel) => [complete("m", "abcdef", channel), complete("m", "abcdefg", channel)],
  },
  {
    name: "a reset after the end",
    by: (channel) => [complete("m", "abcdef", channel), reset("m", channel)],
  },
  { name: "another row", by: (channel) => [textRow("m", "abcdeX", {}, channel)] },
  { name: "a shorter row", by: (channel) => [textRow("m", "abc", {}, channel)] },
  { name: "an empty row", by: (channel) => [textRow("m", "", {}, channel)] },
  { name: "a longer row that begins differently", by: (channel) => [textRow("m", "abcXefgh", {}, channel)] },
  {
    name: "an open longer row that begins differently",
    by: (channel) => [textRow("m", "abcXefgh", { complete: false }, channel)],
  },
  {
    name: "a differing row in fragments",
    by: (channel) => fragments(textRow("m", "abXdefgh", {}, channel), 4),
  },
  {
    name: "a longer row after the end",
    by: (channel) => [complete("m", "abcdef", channel), textRow("m", "abcdefgh", {}, channel)],
  },
  {
    name: "another row than the announced one",
    by: (channel) => [complete("m", "abcdef", channel), textRow("m", "abcdeX", {}, channel)],
  },
  {
    name: "the other channel",
    by: (channel) => [delta("m", 6, "g", channel === "text" ? "thinking" : "text")],
  },
];

for (const channel of CHANNELS) {
  for (const { name, by } of REVISIONS) {
    Deno.test(`[T2] ${name} after ${channel} was shown is an unsupported revision, sticky and silent`, () => {
      const editor = new Editor();
      const shown = projection();
      editor.take(shown.apply(delta("m", 0, "abcdef", channel), 0));
      const steps: Step[] = by(channel).map((event) =>
        editor.take("seq" in event && "at" in event ? shown.read(event, 0) : shown.apply(event, 0))
      );
      assertEquals(steps.at(-1)?.fault?.code, "unsupported_stream_revision");
      assertEquals(editor.text("m"), "abcdef", "nothing was sent that contradicts or follows");
      for (
        const later of [
          shown.apply(delta("n", 0, "more"), 0),
          shown.read(textRow("n", "more"), 0),
          shown.finish({ how: "completed", stopReason: "end_turn" }, 0),
        ]
      ) {
        assertEquals([later.updates.length, later.fault?.code], [0, "unsupported_stream_revision"]);
      }
    });
  }
}

Deno.test("[T2] a message of which nothing was shown may begin anew", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m", 0, "\ud83d"), 0));
  assertEquals(editor.take(shown.apply(reset("m"), 0)).fault, undefined);
  editor.take(shown.apply(delta("m", 0, "new"), 0));
  editor.take(shown.apply(complete("m", "new"), 0));
  assertEquals(editor.text("m"), "new");
});

Deno.test("[T3] a superseded message keeps what was shown and the voice goes on under the new id", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m1", 0, "first"), 0));
  editor.take(shown.apply(superseded("m1", "m2"), 0));
  for (const late of [delta("m1", 5, " more"), complete("m1", "other"), reset("m1")]) {
    assertEquals(editor.take(shown.apply(late, 0)).fault, undefined);
  }
  assertEquals(editor.take(shown.read(textRow("m1", "rewritten"), 0)).fault, undefined);
  editor.take(shown.apply(delta("m2", 0, "second"), 0));
  assertEquals([editor.text("m1"), editor.text("m2")], ["first", "second"]);
  assertEquals(
    shown.finish({ how: "completed", stopReason: "end_turn" }, 0).fault,
    undefined,
    "a superseded message is missed by nobody",
  );
});

Deno.test("[T5] a surrogate pair that arrives in halves is shown whole, a lone half as U+FFFD", () => {
  const editor = new Editor();
  const shown = projection();
  const face = "😀";
  const steps = [
    delta("m", 0, "a" + face[0]),
    delta("m", 1, face + "b"),
    delta("m", 4, face[0] ?? ""),
  ].map((frame) => editor.take(shown.apply(frame, 0)));
  assertEquals(steps.map((step) => step.updates.length), [1, 1, 0]);
  editor.take(shown.apply(complete("m", `a${face}b${face[0]}`), 0));
  assertEquals(editor.text("m"), `a${face}b\ufffd`);
});

const LONG: readonly { name: string; text: string }[] = [
  { name: "ASCII", text: "x".repeat(200_000) },
  { name: "quotes and line ends", text: `"a"\n\t\\`.repeat(20_000) },
  { name: "control characters", text: "\u0001\u0002".repeat(20_000) },
  { name: "surrogate pairs", text: "a" + "😀".repeat(40_000) },
  { name: "families", text: "👨‍👩‍👧‍👦".repeat(9_000) },
  { name: "combining marks", text: "xe\u0301".repeat(30_000) },
  { name: "CR LF", text: ["", "a", "aa", "aaa"].map((lead) => lead + "\r\n".repeat(20_000)).join("") },
  { name: "three-byte letters", text: "語".repeat(60_000) },
];

for (const { name, text } of LONG) {
  Deno.test(`[T5] [A1] long text of ${name} is split under the line cap and comes out whole`, () => {
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(delta("m", 0, text), 0));
    assertEquals(editor.take(shown.apply(complete("m", text), 0)).fault, undefined);
    assert(editor.updates.length > 1);
    assertEquals(editor.text("m"), text);
    const segments = new Set(
      [...new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text)].map((part) => part.index),
    );
    let at = 0;
    for (const update of editor.updates.slice(0, -1)) {
      at += (update.content as { text: string }).text.length;
      assert(segments.has(at), `cut inside a cluster at ${at}`);
    }
    // Chunks are as large as the cap lets them be: no flood of small lines.
    const bytes = new TextEncoder().encode(JSON.stringify(text)).length;
    assert(editor.updates.length <= Math.ceil(bytes / (LIMITS.outputLineBytes - 1024)) + 1);
  });
}

Deno.test("[T5] one cluster longer than a line is cut at a whole character", () => {
  const editor = new Editor();
  const shown = projection();
  const clusters = ["e" + "\u0301".repeat(60_000), "👩" + "\u200d👩".repeat(30_000)];
  for (const text of clusters) {
    // The id moves the cut by one byte a time through a whole character and its joiner.
    for (let length = 1; length <= 7; length++) {
      const id = `${clusters.indexOf(text)}`.repeat(length);
      editor.take(shown.apply(delta(id, 0, text), 0));
      assertEquals(editor.text(id), text);
    }
  }
});

Deno.test("[T1] [A1] `_meta` goes with the first chunk, and a large one is left out", () => {
  for (
    const [size, passes] of [[1000, true], [LIMITS.metaBytes + 1, false]] as const
  ) {
    const editor = new Editor();
    const meta = { blob: "m".repeat(size) };
    editor.take(projection().apply({ ...delta("m", 0, "x".repeat(100_000)), meta }, 0));
    assertEquals(editor.updates.map((update) => update._meta !== undefined), [passes, false, false]);
  }
});

Deno.test("[P3] [P4] a completed Run lacks no complete message that was announced", () => {
  const cases: { name: string; rows: Row[]; how: "completed" | "stopped"; fault?: string }[] = [
    { name: "with its row", rows: [textRow("m", "abc")], how: "completed" },
    { name: "without its row", rows: [], how: "completed", fault: "missing_result" },
    {
      name: "with a row that still grows",
      rows: [textRow("m", "abc", { complete: false })],
      how: "completed",
      fault: "missing_result",
    },
    { name: "without its row, stopped", rows: [], how: "stopped" },
  ];
  for (const { name, rows, how, fault } of cases) {
    const shown = projection();
    shown.apply(delta("m", 0, "abc"), 0);
    shown.apply(complete("m", "abc"), 0);
    for (const part of rows) shown.read(part, 0);
    const end = how === "completed" ? { how, stopReason: "end_turn" as const } : { how, by: "c" };
    assertEquals(shown.finish(end, 0).fault?.code, fault, name);
  }
});

Deno.test("[P3] a longer end than was shown is a gap, and completing needs the rest", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m", 0, "abc"), 0));
  assertEquals(editor.take(shown.apply(complete("m", "abcdef"), 0)).gap, true);
  const other = projection();
  other.apply(delta("m", 0, "abc"), 0);
  other.apply(complete("m", "abcdef"), 0);
  assertEquals(other.finish({ how: "completed", stopReason: "end_turn" }, 0).fault?.code, "missing_result");
  editor.take(shown.read(textRow("m", "abcdef"), 0));
  assertEquals(shown.finish({ how: "completed", stopReason: "end_turn" }, 0).fault, undefined);
  assertEquals(editor.text("m"), "abcdef");
});

Deno.test("[H3] an interrupted Turn may keep less than was shown, but nothing else", () => {
  const ended: Frame = { type: "run_ended", run: RUN, end: { how: "interrupted" }, through: 9 };
  const cases: { kept: string; fault?: string }[] = [
    { kept: "abc" },
    { kept: "" },
    { kept: "abcdef" },
    { kept: "abcdeX", fault: "unsupported_stream_revision" },
  ];
  for (const { kept, fault } of cases) {
    const shown = projection();
    shown.apply(delta("m", 0, "abcdef"), 0);
    shown.apply(ended, 0);
    assertEquals(shown.read(textRow("m", kept), 0).fault?.code, fault, kept);
  }
});

Deno.test("[R1] a body that the reader holds comes without text and is checked all the same", () => {
  const shown = projection();
  shown.apply(delta("m", 0, "abc"), 0);
  const same = textRow("m", "abc", { body: undefined });
  assertEquals(shown.read(same, 0).fault, undefined);
  const other = textRow("m", "abX", { body: undefined });
  assertEquals(shown.read(other, 0).fault?.code, "unsupported_stream_revision");
});

Deno.test("[R1] a row that is read again, or lags behind, or has a hole, sends nothing twice", () => {
  const editor = new Editor();
  const shown = projection();
  const whole = textRow("m", "one two three");
  for (const part of fragments({ ...whole, complete: false }, 4)) editor.take(shown.read(part, 0));
  for (const part of fragments({ ...whole, complete: false }, 5)) editor.take(shown.read(part, 0));
  editor.take(shown.read(textRow("m", "one two", { complete: false }), 0));
  editor.take(shown.apply(delta("m", 13, " four"), 0));
  const [first, , third] = fragments(textRow("m", "one two three four five"), 9);
  assert(first !== undefined && third !== undefined);
  editor.take(shown.read(first, 0));
  assertEquals(editor.take(shown.read({ ...third, body: { offset: 19, text: "five" } }, 0)).gap, true);
  assertEquals(editor.text("m"), "one two three four");
  const changed = fragments(textRow("m", "one twX three four five"), 4);
  editor.take(shown.read(changed[0] ?? whole, 0));
  assertEquals(editor.take(shown.read(changed[2] ?? whole, 0)).gap, true, "a hole is no agreement");
  assertEquals(editor.text("m"), "one two three four");
});

Deno.test("[T5] a user's own row is no echo", () => {
  const own = row({ kind: "user", input: { parts: [{ kind: "text", text: "hi" }] } }, "u");
  assertEquals(projection().read(own, 0).updates, []);
});
