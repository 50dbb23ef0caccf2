import { assert, assertEquals } from "@std/assert";
import { ALL, BARE, complete, delta, input, projection, result, row, RUN, textRow } from "./frames.ts";
import type { Block } from "../../src/model/block.ts";
import { digestOf } from "../../src/model/digest.ts";
import { Editor, type Seen } from "./editor.ts";
import { encodeBody, type Row } from "../../src/model/row.ts";
import type { Frame } from "../../src/model/frame.ts";
import { LIMITS } from "../../src/limits.ts";
import type { Meta } from "../../src/model/json.ts";
import { partId } from "../../src/model/message.ts";
import { Replay } from "../../src/projection/mod.ts";

const IMAGE: Block = { kind: "image", mimeType: "image/png", data: "AAAA", uri: "file:///a.png" };

const BLOCKS: readonly { block: Block; gives: unknown }[] = [
  { block: IMAGE, gives: { type: "image", mimeType: "image/png", uri: "file:///a.png", data: "AAAA" } },
  {
    block: { kind: "audio", mimeType: "audio/wav", data: "BBBB", meta: { a: 1 } },
    gives: { type: "audio", mimeType: "audio/wav", data: "BBBB", _meta: { a: 1 } },
  },
  {
    block: { kind: "link", uri: "file:///a", name: "a", title: "A", description: "about", size: 3 },
    gives: { type: "resource_link", uri: "file:///a", name: "a", title: "A", description: "about", size: 3 },
  },
  {
    block: {
      kind: "resource",
      uri: "note://1",
      mimeType: "text/plain",
      text: "noted",
      contentMeta: { c: 1 },
    },
    gives: {
      type: "resource",
      resource: { uri: "note://1", mimeType: "text/plain", text: "noted", _meta: { c: 1 } },
    },
  },
  {
    block: { kind: "resource", uri: "note://2", blob: "CCCC" },
    gives: { type: "resource", resource: { uri: "note://2", blob: "CCCC" } },
  },
  {
    block: { kind: "text", text: "!", annotations: { priority: 1, audience: ["user"] } },
    gives: { type: "text", text: "!", annotations: { priority: 1, audience: ["user"] } },
  },
];

function contentRow(contentId: string, block: Block | undefined, meta?: Meta): Row {
  return row({ kind: "content", channel: "text", block, meta }, contentId);
}

function content(contentId: string, block: Block, meta?: Meta, omitted = false): Frame {
  const body = encodeBody({ kind: "content", channel: "text", block, meta });
  const frame = { type: "content", run: RUN, contentId, channel: "text", meta } as const;
  const durable = { length: body.length, sha256: digestOf(body) };
  return omitted ? { ...frame, ...durable } : { ...frame, ...durable, block };
}

function replayed(rows: readonly Row[], shows = ALL): readonly Seen[] {
  const editor = new Editor();
  const replay = new Replay({ abilities: shows, redact: (text) => text, live: [] });
  for (const each of rows) editor.take(replay.read(each, 0));
  editor.take(replay.end());
  return editor.updates;
}

for (const { block, gives } of BLOCKS) {
  const what = block.kind === "resource" && block.blob !== undefined ? "resource with bytes" : block.kind;
  Deno.test(`[E1] [H1] a ${what} in a message is shown as it is, live and in a replay, once`, () => {
    const editor = new Editor();
    const shown = projection();
    const id = partId("m", 1);
    editor.take(shown.apply(content(id, block, { of: "chunk" }), 0));
    editor.take(shown.apply(content(id, block, { of: "chunk" }), 0));
    const stored = contentRow(id, block, { of: "chunk" });
    editor.take(shown.read(stored, 0));
    const chunk = {
      sessionUpdate: "agent_message_chunk",
      messageId: "m",
      content: gives,
      _meta: { of: "chunk" },
    };
    assertEquals(editor.updates as unknown[], [chunk]);
    assertEquals(replayed([stored]) as unknown[], [chunk]);
    assertEquals(shown.held(), [{ kind: "content", id, length: stored.length, sha256: stored.sha256 }]);
  });
}

Deno.test("[E1] [R1] a block that a frame leaves out is read from the transcript, and shown once", () => {
  const editor = new Editor();
  const shown = projection();
  const step = editor.take(shown.apply(content("c", IMAGE, undefined, true), 0));
  assertEquals([step.gap, editor.updates.length], [true, 0]);
  editor.take(shown.read(contentRow("c", IMAGE), 0));
  assertEquals(editor.take(shown.apply(content("c", IMAGE, undefined, true), 0)).gap, false);
  assertEquals(editor.updates.length, 1);
});

Deno.test("[E1] [T1] parts of a message are one message: text, a picture, text with other metadata", () => {
  const [first, second, third] = [0, 1, 2].map((at) => partId("m", at)) as [string, string, string];
  const editor = new Editor();
  const shown = projection();
  const meta = { x: 1 };
  for (
    const frame of [
      delta(first, 0, "see "),
      complete(first, "see "),
      content(second, IMAGE),
      { ...delta(third, 0, "the "), meta },
      { ...delta(third, 4, "end"), meta },
      complete(third, "the end"),
    ]
  ) assertEquals(editor.take(shown.apply(frame, 0)).fault, undefined);
  const said = (
    { messageId, content, _meta }: Seen,
  ) => [messageId, (content as { text?: string }).text, _meta];
  assertEquals(editor.updates.map(said), [
    ["m", "see ", undefined],
    ["m", undefined, undefined],
    ["m", "the ", meta],
    ["m", "end", meta],
  ]);
  assertEquals(
    replayed([
      textRow(first, "see "),
      contentRow(second, IMAGE),
      contentRow(third, undefined, meta),
      textRow(third, "the end"),
      textRow("other", "plain"),
    ]).map(said),
    [["m", "see ", undefined], ["m", undefined, undefined], ["m", "the end", meta], [
      "other",
      "plain",
      undefined,
    ]],
  );
});

Deno.test("[E1] [R1] text that the transcript brings has the metadata that its row tells", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply({ ...delta("m", 0, "one"), meta: { x: 1 } }, 0));
  assert(editor.take(shown.apply({ ...delta("m", 7, "three"), meta: { x: 1 } }, 0)).gap);
  editor.take(shown.read(contentRow("m", undefined, { x: 1 }), 0));
  editor.take(shown.read(textRow("m", "one two three"), 0));
  assertEquals(editor.updates.map(({ _meta }) => _meta), [{ x: 1 }, { x: 1 }]);
});

Deno.test("[E1] [A1] bytes go whole up to their limit, past it their link or their name", () => {
  const bytes = (length: number) => "A".repeat(Math.ceil(length / 3) * 4);
  const cases: readonly (readonly [Block, string])[] = [
    [{ kind: "image", mimeType: "image/png", data: bytes(LIMITS.imageBytes - 3) }, "image"],
    [{ kind: "image", mimeType: "image/png", data: bytes(LIMITS.imageBytes + 3) }, "text"],
    [{ kind: "audio", mimeType: "audio/wav", data: bytes(LIMITS.imageBytes + 3) }, "text"],
    [
      { kind: "image", mimeType: "a/b", data: bytes(LIMITS.imageBytes + 3), uri: "file:///a" },
      "resource_link",
    ],
    [{ kind: "resource", uri: "note://1", blob: bytes(LIMITS.imageBytes + 3) }, "resource_link"],
    [{ kind: "resource", uri: "note://1", text: "x".repeat(LIMITS.imageBytes + 1) }, "resource_link"],
    [{ kind: "resource", uri: "note://1", text: "x".repeat(100_000) }, "resource"],
  ];
  for (const [block, type] of cases) {
    const { updates } = projection().apply(content("c", block), 0);
    assertEquals(updates.map((update) => JSON.parse(update).content.type), [type]);
  }
});

Deno.test("[A1] [T5] annotated text that is too long for a line is split like any other", () => {
  const editor = new Editor();
  const text = "x".repeat(100_000);
  editor.take(projection().apply(content("c", { kind: "text", text, annotations: { priority: 1 } }), 0));
  assert(editor.updates.length > 1);
  assertEquals(editor.updates.map((update) => (update.content as { text: string }).text).join(""), text);
});

Deno.test("[T5] a block of empty text shows nothing", () => {
  assertEquals(projection().apply(content("c", { kind: "text", text: "", meta: { a: 1 } }), 0).updates, []);
});

Deno.test("[E1] [K10] a tool's embedded resources and audio are on its card as they are", () => {
  const editor = new Editor();
  const shown = projection();
  const blocks = BLOCKS.filter(({ block }) => block.kind !== "text");
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(result("t", { content: blocks.map(({ block }) => block) }), 0));
  const shownContent = editor.card("t").content ?? [];
  assertEquals(shownContent.map((item) => item.content as unknown), blocks.map(({ gives }) => gives));
});

Deno.test("[E1] [H1] metadata of plans and notices is there live and in a replay", () => {
  const entries = [{ content: "a", priority: "low", status: "pending", meta: { e: 1 } }] as const;
  const frames: readonly Frame[] = [
    { type: "plan", run: RUN, entries, meta: { p: 1 } },
    { type: "notice", run: RUN, severity: "info", title: "N", meta: { n: 1 } },
  ];
  const editor = new Editor();
  const shown = projection(BARE);
  for (const frame of frames) editor.take(shown.apply(frame, 0));
  const metas = (updates: readonly Seen[]) =>
    updates.map(({ sessionUpdate, _meta }) => [sessionUpdate, _meta]);
  const rows = [
    row({ kind: "plan", entries, meta: { p: 1 } }, "p"),
    row({ kind: "notice", severity: "info", title: "N", meta: { n: 1 } }, "n"),
  ];
  const noticed = ["tool_call", { n: 1, gangway: { notice: "info" } }];
  assertEquals(metas(editor.updates), [["plan", { p: 1 }], noticed]);
  assertEquals(metas(replayed(rows, BARE)), [noticed, ["plan", { p: 1 }]]);
  const [entry] = editor.updates[0]?.entries ?? [];
  assertEquals(entry as unknown, { content: "a", priority: "low", status: "pending", _meta: { e: 1 } });
  // What comes as a row too is the plan that is shown.
  for (const each of rows) editor.take(shown.read(each, 0));
  editor.take(shown.finish({ how: "completed", stopReason: "end_turn" }, 0));
  assertEquals(editor.updates.length, 2);
});

Deno.test("[E1] [H1] a compaction is shown to editors that show them, its end in a replay too", () => {
  const summary = [{ kind: "text", text: "so far" }] as const;
  const ended = { compactionId: "c", status: "completed", summary, meta: { x: 1 } } as const;
  const frames: readonly Frame[] = [
    { type: "compaction", run: RUN, compactionId: "c", status: "in_progress" },
    {
      type: "compaction",
      run: RUN,
      compactionId: "c",
      status: "in_progress",
      append: { kind: "text", text: "so far" },
    },
    { type: "compaction", run: RUN, ...ended },
  ];
  const end = {
    sessionUpdate: "compaction_update",
    compactionId: "c",
    status: "completed",
    summary: [{ type: "text", text: "so far" }],
    _meta: { x: 1 },
  };
  const stored = row({ kind: "compaction", ...ended }, "r");
  for (const [shows, gives] of [[ALL, 3], [BARE, 0]] as const) {
    const editor = new Editor();
    const shown = projection(shows);
    for (const frame of frames) editor.take(shown.apply(frame, 0));
    editor.take(shown.read(stored, 0));
    assertEquals(editor.updates.length, gives);
    if (gives > 0) {
      assertEquals(editor.updates.map(({ sessionUpdate }) => sessionUpdate), [
        "compaction_update",
        "compaction_summary_chunk",
        "compaction_update",
      ]);
      assertEquals(editor.updates[2] as unknown, end);
    }
    assertEquals(replayed([stored], shows) as unknown[], gives > 0 ? [end] : []);
  }
});
