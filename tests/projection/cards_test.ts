import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import {
  BARE,
  delta,
  input,
  output,
  progress,
  projection,
  record,
  result,
  RUN,
  start,
  texts,
  toolRow,
} from "./frames.ts";
import type { Frame } from "../../src/model/frame.ts";
import type { RunEnd } from "../../src/model/run.ts";
import { Editor } from "./editor.ts";

const DONE: RunEnd = { how: "completed", stopReason: "end_turn" };

Deno.test("[K1] one tool_call with all that is known, then updates of what changed, whole each time", () => {
  const editor = new Editor();
  const shown = projection();
  assertEquals(editor.take(shown.apply(start("t"), 0)).updates.length, 0, "waits for its input");
  assertEquals(shown.due, 0);
  editor.take(shown.apply(input("t", { locations: [{ path: "/w/a.ts", line: 3 }] }), 0));
  assertEquals(editor.updates, [{
    sessionUpdate: "tool_call",
    toolCallId: "t",
    title: "Run npm test",
    name: "run_command",
    kind: "execute",
    status: "pending",
    locations: [{ path: "/w/a.ts", line: 3 }],
    rawInput: { command: "npm test" },
  }]);
  editor.take(shown.apply(output("t", 0, "one\n"), 300));
  editor.take(shown.apply(output("t", 1, "two\n"), 600));
  assertEquals(editor.updates.slice(1).map((update) => Object.keys(update)), [
    ["sessionUpdate", "toolCallId", "status", "content"],
    ["sessionUpdate", "toolCallId", "content"],
  ]);
  assertEquals(editor.words("t"), "```\none\ntwo\n```", "cumulative");
});

Deno.test("[K1] output, progress and previews update the one card, whatever comes first", () => {
  const events: Frame[] = [
    output("t", 0, "out\n"),
    progress("t", "half way"),
    input("t", { complete: false, title: "Run" }),
    start("t", "parent"),
    input("t"),
  ];
  for (let turned = 0; turned < events.length; turned++) {
    const editor = new Editor();
    const shown = projection();
    let now = 0;
    for (const frame of [...events.slice(turned), ...events.slice(0, turned)]) {
      editor.take(shown.apply(frame, now));
      editor.take(shown.tick(now += 1000));
    }
    const card = editor.card("t");
    assertEquals([card.title, card.status, card._meta], [
      "Run npm test",
      "in_progress",
      { gangway: { parent: "parent" } },
    ]);
    assertStringIncludes(editor.words("t"), "out");
    assertStringIncludes(editor.words("t"), "half way");
  }
});

Deno.test("[K1] a start alone is shown before whatever comes next, or when it is due", () => {
  for (const next of ["message", "tick", "other tool", "finish"] as const) {
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(start("t"), 0));
    if (next === "message") editor.take(shown.apply(delta("m", 0, "text"), 0));
    if (next === "tick") editor.take(shown.tick(0));
    if (next === "other tool") editor.take(shown.apply(input("u"), 0));
    if (next === "finish") editor.take(shown.finish(DONE, 0));
    assertEquals([editor.updates[0]?.toolCallId, editor.updates[0]?.title], ["t", "Tool"], next);
  }
});

Deno.test("[K1] a tool with its whole input is pending for a moment, then in progress", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 1000));
  assertEquals(editor.card("t").status, "pending");
  assertEquals(shown.due, 1200);
  editor.take(shown.tick(1199));
  assertEquals(editor.card("t").status, "pending");
  editor.take(shown.tick(1200));
  assertEquals(editor.card("t").status, "in_progress");
  assertEquals(shown.due, undefined);
  assertEquals(editor.updates.length, 2);
});

Deno.test("[K2] a preview is labelled, shows no raw input, and never replaces the complete input", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t", { complete: false, title: "Run npm", raw: { command: "npm" } }), 0));
  assertEquals([editor.card("t").title, editor.card("t").rawInput], ["Run npm (preview)", undefined]);
  editor.take(shown.apply(input("t"), 1000));
  assertEquals([editor.card("t").title, editor.card("t").rawInput], ["Run npm test", {
    command: "npm test",
  }]);
  editor.take(shown.apply(input("t", { complete: false, title: "Run n" }), 2000));
  editor.take(shown.tick(3000));
  assertEquals(editor.card("t").title, "Run npm test");
});

Deno.test("[K2] raw input and output only where complete, within the limit and not sensitive", () => {
  const raw = { path: "x" };
  const large = { text: "y".repeat(9000) };
  const cases = [
    { name: "plain", input: { raw }, output: raw, shows: [raw, raw] },
    { name: "sensitive", input: { raw, sensitive: true }, output: raw, shows: [undefined, undefined] },
    { name: "preview", input: { raw, complete: false }, output: raw, shows: [undefined, undefined] },
    { name: "large", input: { raw: large }, output: large, shows: [undefined, undefined] },
    { name: "large output", input: { raw }, output: large, shows: [raw, undefined] },
  ];
  for (const { name, input: change, output: value, shows } of cases) {
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(input("t", change), 0));
    editor.take(shown.apply(result("t", { raw: value }), 0));
    assertEquals([editor.card("t").rawInput, editor.card("t").rawOutput], shows, name);
  }
  const editor = new Editor();
  editor.take(projection().read(toolRow(record("t", { raw }), { sensitive: true }), 0));
  assertEquals(
    [editor.card("t").rawInput, editor.card("t").rawOutput],
    [undefined, undefined],
    "sensitive row",
  );
});

Deno.test("[K3] a result replaces live output and ends the card at once", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(output("t", 0, "live\n"), 1));
  const step = editor.take(shown.apply(result("t", { exitCode: 0 }), 2));
  assertEquals(step.updates.length, 1, "not paced");
  assertEquals(editor.card("t").status, "completed");
  assertEquals(editor.words("t"), "4 tests passed\nExit code 0");
});

Deno.test("[K3] contentOmitted keeps the display until the row brings the content", () => {
  const editor = new Editor();
  const shown = projection();
  const tool = toolRow(record("t", { content: texts("from the row") }));
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(output("t", 0, "live\n"), 1));
  editor.take(shown.apply(result("t", { omitted: true }, tool), 2));
  assertEquals(editor.card("t").status, "completed");
  assertStringIncludes(editor.words("t"), "live");
  assertEquals(shown.held(), []);
  editor.take(shown.read(tool, 3));
  assertEquals(editor.words("t"), "from the row");
  assertEquals(shown.held(), [{ kind: "tool", id: "t", length: tool.length, sha256: tool.sha256 }]);
  assertEquals(editor.take(shown.read({ ...tool, body: undefined }, 4)).updates, []);
  assertEquals(shown.finish(DONE, 5).fault, undefined);
});

Deno.test("[K3] a result without content of its own keeps what the tool wrote", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(output("t", 0, "written\n"), 0));
  editor.take(shown.apply(result("t", { content: [], exitCode: 2, status: "failed" }), 1));
  assertEquals([editor.card("t").status, editor.words("t")], ["failed", "```\nwritten\n```\nExit code 2"]);
});

Deno.test("[K4] nothing that comes late reopens an ended card or changes its status", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(result("t"), 1));
  const sent = editor.updates.length;
  const late = [
    output("t", 0, "late"),
    progress("t", "late"),
    start("t", "late"),
    input("t", { title: "late" }),
    input("t", { title: "late", complete: false }),
    result("t"),
    result("t", { omitted: true }),
    result("t", { content: [] }),
  ];
  for (const frame of late) {
    editor.take(shown.apply(frame, 5000));
    editor.take(shown.tick(10_000));
  }
  editor.take(shown.read(toolRow(record("t", {}, { open: true }), { complete: false }), 10_000));
  assertEquals(editor.updates.length, sent);
  editor.take(shown.apply(result("t", { status: "failed", content: texts("corrected") }), 11_000));
  assertEquals([editor.card("t").status, editor.words("t")], ["completed", "corrected"]);
});

Deno.test("[K4] content moves from live to preview to authoritative and never back", () => {
  const first = toolRow(record("t", { content: texts("first") }));
  const other = toolRow(record("t", { content: texts("other") }));
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(result("t", { content: texts("first") }, first), 0));
  editor.take(shown.read(first, 1));
  editor.take(shown.apply(result("t", { content: texts("unannounced") }), 2));
  editor.take(shown.apply(result("t", { content: texts("replayed") }, first), 3));
  assertEquals(editor.words("t"), "first");
  editor.take(shown.apply(result("t", { content: texts("other") }, other), 4));
  assertEquals(editor.words("t"), "other", "an authoritative correction");
  editor.take(shown.read(first, 5));
  assertEquals(editor.words("t"), "other", "an older row");
  editor.take(shown.read(other, 6));
  assertEquals([editor.words("t"), shown.finish(DONE, 7).fault], ["other", undefined]);
});

Deno.test("[K4] an input that comes after the end names a card that had none", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(result("t"), 0));
  assertEquals(editor.card("t").title, "Tool");
  editor.take(shown.apply(input("t"), 1));
  assertEquals([editor.card("t").title, editor.card("t").status, editor.words("t")], [
    "Run npm test",
    "completed",
    "4 tests passed",
  ]);
});

const ENDS: readonly { end: RunEnd; says: RegExp }[] = [
  { end: DONE, says: /^Interrupted: .*without a result/ },
  { end: { how: "stopped", by: "c" }, says: /^Cancelled: / },
  { end: { how: "failed", failure: { class: "engine", message: "x" } }, says: /^Interrupted: .*failed/ },
  { end: { how: "interrupted" }, says: /^Interrupted: .*cut off/ },
];

for (const { end, says } of ENDS) {
  Deno.test(`[K7] [K9] a tool without an end is marked when its Run is ${end.how}, keeping what it showed`, () => {
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(input("t"), 0));
    editor.take(shown.apply(output("t", 0, "so far\n"), 1));
    editor.take(shown.apply(start("u"), 1));
    editor.take(shown.hold("t", 1));
    assertEquals(editor.take(shown.finish(end, 2)).fault, undefined, "it announced no row");
    for (const id of ["t", "u"]) assertEquals(editor.card(id).status, "failed");
    const [shownOutput, note] = editor.card("t").content ?? [];
    assertStringIncludes(shownOutput?.content?.text ?? "", "so far");
    assertMatch(note?.content?.text ?? "", says);
    assertEquals(shown.apply(output("t", 1, "late"), 3).updates, []);
    assertEquals(shown.due, undefined);
  });
}

Deno.test("[K9] a cancelled tool ends failed and says that it was cancelled", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(output("t", 0, "half\n"), 0));
  editor.take(shown.apply(result("t", { status: "cancelled", omitted: true }), 1));
  assertEquals(editor.card("t").status, "failed");
  assertStringIncludes(editor.words("t"), "half");
  assertMatch(editor.words("t"), /Cancelled: /);
});

Deno.test("[K9] a fault leaves no card open", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(delta("m", 0, "text"), 0));
  const step = editor.take(
    shown.apply({ type: "message_reset", run: RUN, messageId: "m", channel: "text" }, 0),
  );
  assertEquals(step.fault?.code, "unsupported_stream_revision");
  assertEquals(editor.card("t").status, "failed");
  assertMatch(editor.words("t"), /Interrupted: /);
});

Deno.test("[P4] [K7] only an announced result without its durable row fails a completed prompt", () => {
  const good = toolRow(record("t"));
  const cases: { name: string; rows: typeof good[]; announced: boolean; end: RunEnd; fault?: string }[] = [
    { name: "row there", rows: [good], announced: true, end: DONE },
    { name: "row missing", rows: [], announced: true, end: DONE, fault: "missing_result" },
    { name: "nothing announced", rows: [], announced: false, end: DONE },
    {
      name: "another row",
      rows: [toolRow(record("t", { content: texts("other") }))],
      announced: true,
      end: DONE,
      fault: "missing_result",
    },
    {
      name: "a row that still grows",
      rows: [{ ...good, complete: false }],
      announced: true,
      end: DONE,
      fault: "missing_result",
    },
    {
      name: "a damaged row",
      rows: [{ ...good, body: { offset: 0, text: "x".repeat(good.length) } }],
      announced: true,
      end: DONE,
      fault: "missing_result",
    },
    {
      name: "a row whose body is another one",
      rows: [{ ...good, body: { offset: 0, text: good.body?.text.replace("passed", "failed") ?? "" } }],
      announced: true,
      end: DONE,
      fault: "missing_result",
    },
    { name: "stopped", rows: [], announced: true, end: { how: "stopped", by: "c" } },
    {
      name: "failed",
      rows: [],
      announced: true,
      end: { how: "failed", failure: { class: "engine", message: "x" } },
    },
    { name: "interrupted", rows: [], announced: true, end: { how: "interrupted" } },
  ];
  for (const { name, rows, announced, end, fault } of cases) {
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(result("t", {}, announced ? good : undefined), 0));
    for (const part of rows) editor.take(shown.read(part, 0));
    assertEquals(editor.take(shown.finish(end, 0)).fault?.code, fault, name);
    assertEquals([editor.card("t").status, editor.words("t")], ["completed", "4 tests passed"], name);
  }
});

Deno.test("[I9] a card is shown before its dialog, left alone while it is open, and true again after it", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.hold("t", 10));
  const card = shown.card("t");
  assertEquals(card, {
    toolCallId: "t",
    title: "Run npm test",
    name: "run_command",
    kind: "execute",
    status: "pending",
    rawInput: { command: "npm test" },
    content: [],
  });
  const before = editor.updates.length;
  editor.take(shown.apply(output("t", 0, "early\n"), 1000));
  editor.take(shown.apply(input("t", { title: "other" }), 2000));
  editor.take(shown.tick(3000));
  assertEquals(editor.updates.length, before);
  assertEquals(shown.due, undefined);
  editor.take(shown.hold("t", 3000));
  editor.take(shown.release("t", 3000));
  assertEquals(editor.updates.length, before, "another dialog is open");
  editor.take(shown.release("t", 4000));
  assertEquals(editor.updates.length, before + 1);
  assertEquals([editor.card("t").title, editor.card("t").status], ["other", "in_progress"]);
  assertStringIncludes(editor.words("t"), "early");
});

Deno.test("[I9] a dialog's words do not stay on the card", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.hold("t", 0));
  editor.take(shown.release("t", 0));
  const last = editor.updates.at(-1);
  assertEquals([last?.title, last?.status, last?.content], ["Run npm test", "pending", []]);
  editor.take(shown.tick(200));
  assertEquals(editor.card("t").status, "in_progress");
});

Deno.test("[I9] a dialog about a tool that nobody announced still has a card before it", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.hold("t", 0));
  assertEquals(editor.updates.map((update) => update.sessionUpdate), ["tool_call"]);
  assertEquals(shown.card("unknown"), undefined);
});

Deno.test("[I9] [K9] a permission about no tool has a card before it, which is over with its dialog", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.hold("i1", 0, "Leave the sandbox?"));
  const names = () => [editor.card("i1").title, editor.card("i1").kind, editor.card("i1").status];
  assertEquals(names(), ["Leave the sandbox?", "other", "pending"]);
  assertEquals(shown.card("i1")?.title, "Leave the sandbox?");
  assertEquals(shown.due, undefined);
  editor.take(shown.release("i1", 1));
  assertEquals(names(), ["Leave the sandbox?", "other", "completed"]);
  editor.take(shown.hold("i2", 2, "And now?"));
  editor.take(shown.finish({ how: "stopped", by: "c" }, 3));
  assertEquals([editor.card("i2").status, editor.updates.length], ["failed", 4]);
});

Deno.test("[I9] [K9] a tool that ends while its dialog is open is shown when the dialog is over", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.hold("t", 0));
  editor.take(shown.apply(result("t", { status: "cancelled" }), 1));
  assertEquals(editor.card("t").status, "pending");
  editor.take(shown.release("t", 2));
  assertEquals(editor.card("t").status, "failed");
  editor.take(shown.hold("t", 3));
  editor.take(shown.release("t", 4));
  assertMatch(editor.words("t"), /Cancelled/, "a later dialog leaves the ended card as it is");
});

Deno.test("[R1] a tool is joined by its row and goes on live", () => {
  const editor = new Editor();
  const shown = projection();
  const open = record("t", {}, { open: true, output: { text: "one\ntwo\n", dropped: 0 }, parent: "p" });
  editor.take(shown.read(toolRow(open, { complete: false }), 0));
  assertEquals([editor.card("t").title, editor.card("t").status], ["Run npm test", "in_progress"]);
  editor.take(shown.apply(output("t", 2, "three\n"), 1000));
  assertEquals(editor.words("t"), "```\none\ntwo\nthree\n```");
  assertNotMatch(editor.words("t"), /missing/);
});

Deno.test("[R1] after a gap a row that covers more replaces live output, one that lags does not", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(output("t", 0, "one\n"), 0));
  editor.take(shown.apply(output("t", 1, "two\n"), 1000));
  const lagging = record("t", {}, { open: true, output: { text: "one\n", dropped: 0 } });
  editor.take(shown.read(toolRow(lagging, { complete: false }), 2000));
  assertEquals(editor.words("t"), "```\none\ntwo\n```");
  const ahead = record("t", {}, { open: true, output: { text: "one\ntwo\nthree\n", dropped: 0 } });
  editor.take(shown.read(toolRow(ahead, { complete: false }), 3000));
  assertEquals(editor.words("t"), "```\none\ntwo\nthree\n```");
});

Deno.test("[K1] `_meta` of frames is shown on the card, beside the parent", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply({ ...start("t", "p"), meta: { vendor: { x: 1 } } }, 0));
  editor.take(shown.apply(input("t"), 0));
  assertEquals(editor.card("t")._meta, { vendor: { x: 1 }, gangway: { parent: "p" } });
});

Deno.test("[K10] a terminal is shown only where the editor has terminals and told live", () => {
  const content = [{ kind: "terminal", terminalId: "term" } as const];
  const cases = [
    { name: "live", shows: true, live: true, sees: ["terminal"] },
    { name: "editor without terminals", shows: false, live: true, sees: ["content"] },
    { name: "from the transcript", shows: true, live: false, sees: ["content"] },
  ];
  for (const { name, shows, live, sees } of cases) {
    const editor = new Editor();
    const shown = projection({ ...BARE, terminal: shows });
    if (live) {
      editor.take(shown.apply(output("t", 0, "ran\n"), 0));
      editor.take(shown.apply(result("t", { content }), 1));
    } else {
      editor.take(
        shown.read(toolRow(record("t", { content }, { output: { text: "ran\n", dropped: 0 } })), 0),
      );
    }
    assertEquals(editor.card("t").content?.map((item) => item.type), sees, name);
  }
});

Deno.test("[K6] an ended card keeps no payload, and a row in agreement sends nothing", () => {
  const editor = new Editor();
  const shown = projection();
  const tool = toolRow(record("t"));
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(result("t", {}, tool), 1));
  const sent = editor.updates.length;
  editor.take(shown.read(tool, 2));
  assertEquals(editor.updates.length, sent);
  assertEquals(Object.keys(shown.card("t") ?? {}), ["toolCallId", "status"]);
});
