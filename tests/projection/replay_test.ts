import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ALL, BARE, complete, delta, fragments, INPUT, output, record, result, texts } from "./frames.ts";
import { Replay, type Shows } from "../../src/projection/mod.ts";
import { row as makeRow, RUN } from "./frames.ts";
import type { PlanEntry } from "../../src/model/plan.ts";
import type { Row, RowBody } from "../../src/model/row.ts";
import type { RunEnd } from "../../src/model/run.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";

const DONE: RunEnd = { how: "completed", stopReason: "end_turn" };

function row(turnId: string, body: RowBody, id: string, change: Partial<Row> = {}): Row {
  return makeRow(body, id, { run: { turnId, runId: `${turnId}-run` }, ...change });
}

function said(turnId: string, id: string, text: string): Row {
  return row(turnId, { kind: "user", input: { parts: [{ kind: "text", text }] } }, id);
}

function plan(turnId: string, ...contents: string[]): Row {
  const entries: PlanEntry[] = contents.map((content) => ({
    content,
    priority: "high",
    status: "completed",
  }));
  return row(turnId, { kind: "plan", entries }, `${turnId}-plan-${contents.length}`);
}

function ended(turnId: string, end: RunEnd = DONE): Row {
  return row(turnId, { kind: "end", end }, `${turnId}-end`);
}

function replayed(rows: readonly Row[], options: { shows?: Shows; live?: string[] } = {}): Editor {
  const editor = new Editor();
  const replay = new Replay({
    abilities: options.shows ?? ALL,
    redact: (text) => text,
    live: options.live ?? [],
  });
  for (const part of rows) editor.take(replay.read(part, 0));
  editor.take(replay.end());
  return editor;
}

Deno.test("[H1] a replay shows all rows in order under the ids that were live", () => {
  const editor = replayed([
    said("t1", "u1", "do it"),
    row("t1", { kind: "thinking", text: "hm" }, "th1"),
    row("t1", { kind: "text", text: "Working." }, "m1"),
    row("t1", { kind: "tool", tool: record("c1", { exitCode: 0 }) }, "c1"),
    plan("t1", "a"),
    plan("t1", "a", "b"),
    row("t1", { kind: "text", text: "Done." }, "m2"),
    ended("t1"),
    said("t2", "u2", "and this"),
    row("t2", { kind: "text", text: "Yes." }, "m3"),
    ended("t2"),
  ]);
  assertEquals(
    editor.updates.map((update) => [update.sessionUpdate, update.messageId ?? update.toolCallId]),
    [
      ["user_message_chunk", "u1"],
      ["agent_thought_chunk", "th1"],
      ["agent_message_chunk", "m1"],
      ["tool_call", "c1"],
      ["agent_message_chunk", "m2"],
      ["plan", undefined],
      ["user_message_chunk", "u2"],
      ["agent_message_chunk", "m3"],
    ],
  );
  assertEquals(editor.updates[5]?.entries?.length, 2, "the plan once a Turn, as it was at last");
  const card = editor.card("c1");
  assertEquals([card.title, card.status, card.kind], [INPUT.title, "completed", "execute"]);
  assertEquals(editor.words("c1"), "4 tests passed\nExit code 0");
});

Deno.test("[H1] a replay shows what was live: the same text, cards and ids", () => {
  const live = new Editor();
  const shown = new Replay({ abilities: ALL, live: ["t1"] }).handOver("t1");
  assert(shown !== undefined);
  const hello = row("t1", { kind: "text", text: "Hello" }, "m1");
  const tool = row("t1", { kind: "tool", tool: record("c1", { content: texts("result") }) }, "c1");
  live.take(shown.apply(delta("m1", 0, "Hello"), 0));
  live.take(shown.apply(complete("m1", "Hello"), 0));
  live.take(shown.apply({ type: "tool_input", run: RUN, toolCallId: "c1", input: INPUT }, 0));
  live.take(shown.apply(output("c1", 0, "live"), 500));
  live.take(shown.apply(result("c1", { content: texts("result") }, tool), 1000));
  const editor = replayed([hello, tool, ended("t1")]);
  assertEquals(editor.texts, live.texts);
  assertEquals(editor.cards, live.cards);
});

Deno.test("[H1] every end of a tool has its final status, and none stays open", () => {
  const rows = [
    record("done"),
    record("failed", { status: "failed", exitCode: 1 }),
    record("cancelled", { status: "cancelled", content: [] }, { output: { text: "half\n", dropped: 0 } }),
    record("lost", {}, { open: true, output: { text: "so far\n", dropped: 7 } }),
    record("empty", { content: [] }, { output: { text: "kept\n", dropped: 0 } }),
  ].map((tool) => row("t", { kind: "tool", tool }, tool.toolCallId));
  const open = row("t", { kind: "tool", tool: record("open", {}, { open: true }) }, "open", {
    complete: false,
  });
  const editor = replayed([...rows, open, ended("t")]);
  assertEquals([...editor.cards.values()].map((card) => [card.toolCallId, card.status]), [
    ["done", "completed"],
    ["failed", "failed"],
    ["cancelled", "failed"],
    ["lost", "failed"],
    ["empty", "completed"],
    ["open", "failed"],
  ]);
  assertEquals(editor.updates.length, 6, "one update a tool");
  assertMatch(editor.words("cancelled"), /half[^]*Cancelled: /);
  assertMatch(editor.words("lost"), /\[7 earlier characters not shown\]\nso far[^]*Interrupted: /);
  assertStringIncludes(editor.words("empty"), "kept");
});

Deno.test("[H3] an interrupted Turn is visibly marked, a failed one says why, a stopped one is left as it is", () => {
  const ends: { end: RunEnd; title?: RegExp; text?: RegExp }[] = [
    { end: { how: "interrupted" }, title: /^Interrupted: / },
    {
      end: { how: "failed", failure: { class: "engine", message: "The agent fell over" } },
      title: /^Failed: /,
      text: /The agent fell over/,
    },
    { end: { how: "stopped", by: "c" } },
    { end: DONE },
  ];
  for (const { end, title, text } of ends) {
    for (const shows of [ALL, BARE]) {
      const editor = replayed([row("t", { kind: "text", text: "so far" }, "m"), ended("t", end)], { shows });
      assertEquals(editor.updates.length, title === undefined ? 1 : 2);
      if (title === undefined) continue;
      const card = editor.card("t.end");
      assertEquals([card.status, card.kind], ["failed", "other"]);
      assertMatch(card.title ?? "", title);
      if (text !== undefined) assertMatch(editor.words("t.end"), text);
      assertEquals(editor.text("m"), "so far", "no words are put into the agent's mouth");
    }
  }
});

Deno.test("[H1] what a user said comes back: text, links, and bytes by name, type and size", () => {
  const artifact = { artifactId: "a", name: "photo.png", mimeType: "image/png", size: 1234, sha256: "00" };
  const editor = replayed([
    row("t", {
      kind: "user",
      input: {
        parts: [
          { kind: "text", text: "look", meta: { x: 1 } },
          {
            kind: "link",
            uri: "file:///w/a%20b.ts#L10:20",
            name: "a b.ts",
            mimeType: "text/plain",
            title: "T",
          },
          { kind: "resource", uri: "file:///w/c", artifact },
          { kind: "image", mimeType: "image/png", artifact },
          { kind: "text", text: "" },
          { kind: "link", uri: `data:${"x".repeat(60_000)}`, name: "data" },
        ],
      },
    }, "u"),
  ]);
  assertEquals(editor.updates.map((update): unknown => update.content), [
    { type: "text", text: "look", _meta: { x: 1 } },
    {
      type: "resource_link",
      uri: "file:///w/a%20b.ts#L10:20",
      name: "a b.ts",
      mimeType: "text/plain",
      title: "T",
    },
    { type: "resource_link", uri: "file:///w/c", name: "photo.png", size: 1234 },
    { type: "text", text: "[image: photo.png, image/png, 1234 bytes]" },
    { type: "text", text: "[link: data]" },
  ]);
});

Deno.test("[H1] [R4] long rows come in fragments and in lines under the cap", () => {
  const text = "words and 😀語 ".repeat(40_000);
  const tool = record("c", { content: texts("r".repeat(600_000)) });
  const rows = [
    said("t", "u", text),
    row("t", { kind: "text", text }, "m"),
    row("t", { kind: "tool", tool }, "c"),
    ended("t"),
  ].flatMap((whole) => fragments(whole, 65_531));
  const editor = replayed(rows);
  assertEquals([editor.text("u"), editor.text("m")], [text, text]);
  assertEquals(editor.card("c").status, "completed");
  assertMatch(editor.words("c"), /characters not shown\]/);
});

Deno.test("[R4] a record that is too long or damaged is said to be so, and the replay goes on", () => {
  const whole = row("t", { kind: "tool", tool: record("long") }, "long");
  const editor = replayed([
    { ...whole, length: LIMITS.assemblyLength + 1 },
    { ...whole, seq: whole.seq + 0.5, id: "broken", body: { offset: 0, text: "{".padEnd(whole.length) } },
    row("t", { kind: "text", text: "after" }, "m"),
  ]);
  for (const id of ["long", "broken"]) {
    assertEquals(editor.card(id).status, "failed");
    assertMatch(editor.words(id), /cannot be read/);
  }
  assertEquals(editor.text("m"), "after");
});

Deno.test("[H1] notices are replayed as the cards they were, and not where the editor shows notices live", () => {
  const rows = [
    row("t", { kind: "notice", severity: "info", title: "One" }, "n1"),
    row("t", { kind: "notice", severity: "info", title: "One" }, "n2"),
  ];
  assertEquals(replayed(rows, { shows: ALL }).updates.length, 0);
  assertEquals([...replayed(rows, { shows: BARE }).cards.keys()], ["t.notice.0", "t.notice.1"]);
});

Deno.test("[H2] [R1] a live Turn goes on where its replay ended", () => {
  const editor = new Editor();
  const replay = new Replay({ abilities: ALL, live: ["t2"] });
  const open = record("c", {}, { open: true, output: { text: "one\n", dropped: 0 } });
  const rows = [
    said("t1", "u1", "first"),
    ended("t1"),
    said("t2", "u2", "second"),
    row("t2", { kind: "text", text: "So fa" }, "m", { complete: false }),
    row("t2", { kind: "tool", tool: open }, "c", { complete: false }),
    plan("t2", "a"),
  ];
  for (const part of rows) editor.take(replay.read(part, 0));
  editor.take(replay.end());
  assertEquals(editor.card("c").status, "in_progress");
  assertEquals(replay.handOver("t1"), undefined);
  const shown = replay.handOver("t2");
  assert(shown !== undefined);
  editor.take(shown.apply(delta("m", 0, "So far"), 1000));
  editor.take(shown.apply(output("c", 1, "two\n"), 1000));
  editor.take(shown.finish({ how: "stopped", by: "c" }, 2000));
  assertEquals(editor.text("m"), "So far");
  assertStringIncludes(editor.words("c"), "one\ntwo");
  assertEquals(editor.card("c").status, "failed");
  assertEquals(editor.texts.get("u2"), "second");
});

Deno.test("[R1] a replay that was cut off and begins again shows nothing twice", () => {
  const text = "one 😀 two 😀 three ".repeat(20);
  const rows = [
    said("t", "u", text),
    row("t", { kind: "text", text }, "m"),
    row("t", { kind: "tool", tool: record("c") }, "c"),
    ended("t", { how: "interrupted" }),
  ].flatMap((whole) => fragments(whole, 37));
  for (let cut = 0; cut < rows.length; cut++) {
    for (const back of [0, cut >> 1]) {
      const editor = replayed([...rows.slice(0, cut), ...fromFragment(rows, back)]);
      assertEquals([editor.text("u"), editor.text("m")], [text, text]);
      assertEquals([...editor.cards.keys()], ["c", "t.end"]);
    }
  }
});

/** The rows from the one that fragment `at` belongs to: a reading begins with whole rows. */
function fromFragment(rows: readonly Row[], at: number): readonly Row[] {
  return rows.slice(rows.findIndex((part) => part.seq === rows[at]?.seq));
}

Deno.test("[K6] what a replay shows of a live Turn does not count against a prompt", () => {
  const replay = new Replay({ abilities: ALL, live: ["t"] });
  for (let at = 0; at < LIMITS.promptTools + 10; at++) {
    const step = replay.read(row("t", { kind: "tool", tool: record(`c${at}`) }, `c${at}`), 0);
    assertEquals(step.fault, undefined);
  }
  const shown = replay.handOver("t");
  for (let at = 0; at < LIMITS.promptTools; at++) {
    assertEquals(shown?.apply(output(`new${at}`, 0, "x"), 0).fault, undefined);
  }
  assertEquals(shown?.apply(output("more", 0, "x"), 0).fault?.code, "tool_presentation_capacity");
});

Deno.test("[H1] Turns that ran side by side keep their own plans, each at its end", () => {
  const editor = replayed([
    plan("t1", "one"),
    plan("t2", "two", "b"),
    ended("t2"),
    row("t1", { kind: "text", text: "x" }, "m"),
    ended("t1"),
    plan("t3", "never ended"),
  ]);
  assertEquals(
    editor.updates.map((update) => update.entries?.[0]?.content ?? update.messageId),
    ["two", "m", "one", "never ended"],
  );
});

Deno.test("[H1] 100,000 rows are replayed with flat memory", () => {
  const replay = new Replay({ abilities: ALL, live: [] });
  const text = "A sentence of some length that an agent could have said. ";
  let heap = 0;
  let updates = 0;
  for (let at = 0; at < 100_000; at++) {
    const turnId = "one long turn";
    const part = at % 4 === 0
      ? row(turnId, { kind: "tool", tool: record(`c${at}`) }, `c${at}`)
      : row(turnId, { kind: "text", text }, `m${at}`);
    updates += replay.read(part, 0).updates.length;
    if (at === 20_000) heap = Deno.memoryUsage().heapUsed;
  }
  assertEquals(updates, 100_000);
  assert(Deno.memoryUsage().heapUsed - heap < 32 * 1024 * 1024);
});
