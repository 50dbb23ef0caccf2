import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import type { ReadRequest, Subscription } from "../../../src/host/contract.ts";
import type { ToolInput } from "../../../src/model/tool.ts";
import { decodeBody, type Row } from "../../../src/model/row.ts";
import { digestOf } from "../../../src/model/digest.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { FaultyStore, gate, unclosed } from "./faulty_store.ts";
import { done, ended, NO_SERVICES, opened, type Script, started, until, worldOf } from "./world.ts";

const TOOL: ToolInput = { complete: true, sensitive: false, title: "Tool", kind: "other", locations: [] };

/** Reads all pages. */
async function readAll(
  subscription: Subscription,
  request: Partial<ReadRequest> = {},
): Promise<{ rows: Row[]; pages: number }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await subscription.read({ after: 0, maxLength: 100_000, ...request, cursor });
    rows.push(...page.rows);
    cursor = page.cursor;
    pages++;
  } while (cursor !== undefined);
  return { rows, pages };
}

/** Whole bodies by row id. */
function bodies(rows: readonly Row[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { id, body } of rows) {
    const before = texts.get(id) ?? "";
    if (body === undefined) continue;
    assertEquals(body.offset === before.length || body.offset === 0, true, "fragments follow one another");
    texts.set(id, body.offset === 0 ? body.text : before + body.text);
  }
  return texts;
}

/** Runs a script that waits between its steps until the test lets it go on. */
function stepped(...steps: ((sink: Parameters<Script>[1]) => Promise<void>)[]) {
  const passed = steps.map(() => gate());
  const next = steps.map(() => gate());
  const script: Script = async (_turn, sink) => {
    for (const [index, step] of steps.entries()) {
      await step(sink);
      passed[index]?.open();
      await next[index]?.promise;
    }
  };
  return {
    script,
    reached: (index: number) => passed[index]?.promise,
    pass: (index: number) => next[index]?.open(),
  };
}

Deno.test("[H1] rows stand in the order in which they began, whatever ends first", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m1", "thinking", "hm");
    await sink.toolStart("x1", TOOL);
    await sink.message("m2", "text", "so");
    await sink.messageComplete("m2");
    await sink.toolResult("x1", { status: "completed", content: [], diffs: [] });
    await sink.plan([{ content: "do", priority: "low", status: "pending" }]);
    await sink.notice("warning", "Careful");
    await sink.message("m1", "thinking", "!");
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const { rows } = await readAll(subscription);
  assertEquals(rows.map((row) => [row.seq, row.kind, row.complete]), [
    [1, "user", true],
    [2, "thinking", true],
    [3, "tool", true],
    [4, "text", true],
    [5, "plan", true],
    [6, "notice", true],
    [7, "end", true],
  ]);
  for (const row of rows) {
    assertEquals([row.length, row.sha256], [row.body?.text.length, digestOf(row.body?.text ?? "")]);
  }
  const announced = frames.flatMap((frame) =>
    frame.type === "message_complete" || frame.type === "tool_result" ? [frame.sha256 ?? ""] : []
  );
  assertEquals(announced, [rows[3]?.sha256, rows[2]?.sha256, rows[1]?.sha256]);
  const [transcript, end] = frames.slice(-2);
  assertEquals(transcript, { type: "transcript", watermark: 7, last: 7 });
  assertEquals(end?.type === "run_ended" && end.through, 7);
});

Deno.test("[P3] open text is saved at most every checkpointMs; the watermark stays below what is open", async () => {
  const store = new FaultyStore();
  const steps = stepped(
    async (sink) => {
      await sink.message("m1", "text", "one");
      await sink.message("m2", "text", "two");
      await sink.messageComplete("m2");
    },
    (sink) => sink.message("m1", "text", " more"),
    (sink) => sink.messageComplete("m1"),
  );
  await using world = worldOf(steps.script, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await steps.reached(0);
  store.batches.length = 0;
  await world.clock.advance(249);
  assertEquals(store.batches, []);
  await world.clock.advance(1);
  assertEquals(store.batches.flat().map((write) => [write.op, "text" in write ? write.text : ""]), [
    ["row", ""],
    ["append", "one"],
    ["row", ""],
    ["append", "two"],
  ]);
  steps.pass(0);
  await steps.reached(1);
  await world.clock.advance(250);
  const [, append] = store.batches[1] ?? [];
  assertEquals(append, { op: "append", seq: 2, offset: 3, text: " more" });
  const seen = (await subscription.next()).frames;
  assertEquals(seen.filter((frame) => frame.type === "transcript"), [{
    type: "transcript",
    watermark: 1,
    last: 1,
  }]);
  steps.pass(1);
  await steps.reached(2);
  await world.clock.advance(250);
  const frames = await until(subscription, (frame) => frame.type === "transcript");
  assertEquals(frames.at(-1), { type: "transcript", watermark: 3, last: 3 });
  assertEquals(store.batches[2]?.map((write) => write.op), ["row", "watermark"]);
  steps.pass(2);
  await until(subscription, ended);
});

Deno.test("much open text is saved at once, and the Engine waits while saving lags far behind", async () => {
  const store = new FaultyStore();
  const commit = gate();
  let length = 0;
  await using world = worldOf(async (_turn, sink) => {
    store.onCommit = () => commit.promise;
    while (length < 10_000) {
      await sink.message("m", "text", "0123456789");
      length += 10;
    }
  }, { store, limits: { checkpointLength: 1000 } });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const stuck = async () => {
    for (let before = -1; before !== length;) {
      before = length;
      for (let turn = 0; turn < 10; turn++) await world.clock.turn();
    }
    return length;
  };
  assertEquals(await stuck(), 2000, "no timer was needed, and no more was taken");
  commit.open();
  const frames = await until(subscription, ended);
  assertEquals(length, 10_000);
  assertEquals(bodies((await readAll(subscription)).rows).get("m")?.length, 10_000);
  assertEquals(frames.some((frame) => frame.type === "closed"), false);
  const appends = store.batches.flat().flatMap((write) => write.op === "append" ? [write.text.length] : []);
  assertEquals(Math.max(...appends) <= 2010, true);
});

Deno.test("[H2] [R1] [R4] read serves rows that grow: what is saved, what is on its way and what is not", async () => {
  const store = new FaultyStore();
  const commit = gate();
  const steps = stepped(
    (sink) => sink.message("m", "text", "saved "),
    (sink) => sink.message("m", "text", "flying "),
    (sink) => sink.message("m", "text", "fresh"),
  );
  await using world = worldOf(steps.script, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await steps.reached(0);
  await world.clock.advance(250);
  steps.pass(0);
  await steps.reached(1);
  store.onCommit = () => commit.promise;
  await world.clock.advance(250);
  steps.pass(1);
  await steps.reached(2);
  for (const maxLength of [1, 2, 3, 5, 8, 100]) {
    const { rows } = await readAll(subscription, { after: 1, maxLength });
    assertEquals([...bodies(rows)], [["m", "saved flying fresh"]]);
    assertEquals(rows.every((row) => !row.complete && row.length === 18), true);
    assertEquals(rows.every((row) => row.sha256 === digestOf("saved flying fresh")), true);
    assertEquals(rows.every((row) => (row.body?.text.length ?? 0) <= maxLength), true);
  }
  const open = await connection.sessions.open("s1", NO_SERVICES);
  assertEquals(open.snapshot.messages.map(({ messageId, length }) => [messageId, length]), [["m", 18]]);
  assertEquals([open.snapshot.watermark, open.snapshot.last], [1, 2]);
  commit.open();
  steps.pass(2);
  await until(subscription, ended);
});

const LONG = "abcdefghij".repeat(50);

Deno.test("[R1] held prefixes are left out: whole ones by their digest alone, shorter ones after a look at the text", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m", "text", LONG);
    await sink.toolStart("x", TOOL);
    await sink.toolResult("x", { status: "completed", content: [{ kind: "text", text: LONG }], diffs: [] });
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const tool = (await readAll(subscription)).rows.find((row) => row.kind === "tool");
  const text = (length: number) =>
    ({ kind: "text", id: "m", length, sha256: digestOf(LONG.slice(0, length)) }) as const;
  const table: readonly [string, NonNullable<ReadRequest["held"]>, [string, number | undefined][]][] = [
    ["nothing", [], [["m", 0], ["x", 0]]],
    ["all of the text", [text(500)], [["m", undefined], ["x", 0]]],
    ["a part of the text", [text(123)], [["m", 123], ["x", 0]]],
    ["a rewritten text", [{ ...text(500), sha256: digestOf("other") }], [["m", 0], ["x", 0]]],
    ["a rewritten part", [{ ...text(123), sha256: digestOf("other") }], [["m", 0], ["x", 0]]],
    ["more than there is", [{ ...text(500), length: 501 }], [["m", 0], ["x", 0]]],
    ["another channel", [{ ...text(500), kind: "thinking" }], [["m", 0], ["x", 0]]],
    ["the tool", [{ kind: "tool", id: "x", length: tool?.length ?? 0, sha256: tool?.sha256 ?? "" }], [
      ["m", 0],
      ["x", undefined],
    ]],
  ];
  for (const [what, held, want] of table) {
    for (const maxLength of [100_000, 77]) {
      const { rows } = await readAll(subscription, { turnId: "t1", after: 1, held, maxLength });
      const first = new Map(rows.toReversed().map((row) => [row.id, row.body?.offset]));
      assertEquals([...first].filter(([id]) => id === "m" || id === "x").toSorted(), want, what);
    }
  }
});

Deno.test("[R1] a tool that ends between two pages is read from its beginning again", async () => {
  const steps = stepped(
    async (sink) => {
      await sink.toolStart("x", TOOL);
      await sink.toolOutput("x", "stdout", LONG);
    },
    (sink) => sink.toolResult("x", { status: "failed", content: [{ kind: "text", text: "no" }], diffs: [] }),
  );
  await using world = worldOf(steps.script);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await steps.reached(0);
  const first = await subscription.read({ after: 1, maxLength: 100 });
  assertEquals([first.rows.length, first.rows[0]?.complete], [1, false]);
  steps.pass(0);
  await steps.reached(1);
  const second = await subscription.read({ after: 1, maxLength: 100_000, cursor: first.cursor });
  assertEquals([second.rows[0]?.body?.offset, second.rows[0]?.complete], [0, true]);
  const tool = decodeBody("tool", second.rows[0]?.body?.text ?? "");
  assertEquals(tool.kind === "tool" && tool.tool.result?.content, [{ kind: "text", text: "no" }]);
  steps.pass(1);
  await until(subscription, ended);
});

Deno.test("[R2] reads keep to their Turn and range, and refuse a cursor from elsewhere", async () => {
  await using world = worldOf((turn, sink) => sink.message(`m-${turn.turnId}`, "text", turn.turnId));
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  for (const turnId of ["t1", "t2", "t3"]) {
    await started(connection, turnId);
    await until(subscription, ended);
  }
  const seqs = async (request: Partial<ReadRequest>) =>
    (await readAll(subscription, request)).rows.map((row) => row.seq);
  assertEquals(await seqs({}), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assertEquals(await seqs({ turnId: "t2" }), [4, 5, 6]);
  assertEquals(await seqs({ after: 2, through: 5 }), [3, 4, 5]);
  assertEquals(await seqs({ turnId: "t1", after: 4 }), []);
  for (const cursor of ["", "1", "x.y.z", "1.2.3.4", "-1.0.", "1.0.ZZ"]) {
    const error = await assertRejects(() => subscription.read({ after: 0, maxLength: 1, cursor }), HostError);
    assertEquals(error.code, "invalid");
  }
});

Deno.test("[R4] a page holds at most 1024 rows, also where the reader has them all", async () => {
  await using world = worldOf(async (_turn, sink) => {
    for (let count = 0; count < 1500; count++) {
      await sink.message(`m${count}`, "text", "x");
      await sink.messageComplete(`m${count}`);
    }
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  while ((await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: false })).kind === "live") {
    await world.clock.turn();
  }
  const reader = await connection.sessions.open("s1", NO_SERVICES);
  await subscription.close();
  const held = Array.from({ length: 1500 }, (_, count) => ({
    kind: "text" as const,
    id: `m${count}`,
    length: 1,
    sha256: digestOf("x"),
  }));
  for (const known of [[], held]) {
    const { rows, pages } = await readAll(reader, { held: known });
    assertEquals([rows.length, pages], [1502, 2]);
    assertEquals(rows.filter((row) => row.body === undefined).length, known.length);
  }
});

Deno.test("[T2] text that was taken back begins again, in frames, in the store and while it is read", async () => {
  const store = new FaultyStore();
  const commit = gate();
  const steps = stepped(
    (sink) => sink.message("m", "text", "wrong"),
    async (sink) => {
      await sink.messageReset("m");
      await sink.message("m", "text", "right");
    },
  );
  await using world = worldOf(steps.script, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await steps.reached(0);
  // The old text is on its way to the store while it is taken back.
  store.onCommit = () => commit.promise;
  await world.clock.advance(250);
  steps.pass(0);
  await steps.reached(1);
  assertEquals(bodies((await readAll(subscription, { after: 1 })).rows).get("m"), "right");
  commit.open();
  steps.pass(1);
  const frames = await until(subscription, ended);
  const said = frames.flatMap((frame) =>
    frame.type === "message"
      ? [`${frame.offset} ${frame.text}`]
      : frame.type === "message_reset"
      ? ["reset"]
      : []
  );
  assertEquals(said, ["0 wrong", "reset", "0 right"]);
  const end = frames.find(ended);
  assertEquals(end?.type === "run_ended" && end.end.how, "completed");
  await connection.sessions.release("s1");
  const again = await connection.sessions.open("s1", NO_SERVICES);
  const { rows } = await readAll(again, { after: 1 });
  assertEquals([bodies(rows).get("m"), rows[0]?.sha256], ["right", digestOf("right")]);
});

Deno.test("text that was taken back after it was saved is replaced in the store too", async () => {
  const steps = stepped(
    (sink) => sink.message("m", "text", "wrong and long"),
    async (sink) => {
      await sink.messageReset("m");
      await sink.message("m", "text", "right");
    },
    (sink) => sink.message("m", "text", " again"),
  );
  await using world = worldOf(steps.script);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  for (const index of [0, 1]) {
    await steps.reached(index);
    await world.clock.advance(250);
    steps.pass(index);
  }
  await steps.reached(2);
  steps.pass(2);
  await until(subscription, ended);
  await connection.sessions.release("s1");
  const again = await connection.sessions.open("s1", NO_SERVICES);
  assertEquals(bodies((await readAll(again, { after: 1 })).rows).get("m"), "right again");
});

Deno.test("a message keeps the channel that it began in", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m", "text", "a");
    await sink.message("m", "thinking", "b");
    await sink.message("m", "text", "c");
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  assertEquals(frames.flatMap((frame) => frame.type === "message" ? [frame.channel + frame.text] : []), [
    "texta",
    "textc",
  ]);
  assertEquals(bodies((await readAll(subscription, { after: 1 })).rows).get("m"), "ac");
});

Deno.test("[T3] a superseded message keeps its text and ends; the voice goes on under the new id", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m1", "text", "first");
    await sink.messageSuperseded("m1", "m2");
    await sink.message("m1", "text", "never");
    await sink.message("m2", "text", "second");
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const about = frames.filter((frame) => "messageId" in frame && frame.messageId === "m1").map((frame) =>
    frame.type
  );
  assertEquals(about, ["message", "message_complete", "message_superseded"]);
  assertEquals([...bodies((await readAll(subscription, { after: 1, through: 3 })).rows).values()], [
    "first",
    "second",
  ]);
});

const PAIRS: readonly [string, readonly string[], string][] = [
  ["a pair in two pieces", ["a\ud83d", "\ude00b"], "a\u{1f600}b"],
  ["a pair that is all there is", ["\ud83d", "\ude00"], "\u{1f600}"],
  ["a half that never gets its other", ["a\ud83d", "b"], "a\ufffdb"],
  ["a half at the end", ["a\ud83d"], "a\ufffd"],
  ["a low half alone", ["a\ude00b"], "a\ufffdb"],
];
for (const [what, pieces, text] of PAIRS) {
  Deno.test(`[T5] text is well formed in every frame and row: ${what}`, async () => {
    await using world = worldOf(async (_turn, sink) => {
      for (const piece of pieces) await sink.message("m", "text", piece);
    });
    const connection = world.host.connect("c1");
    const subscription = await opened(connection);
    await started(connection, "t1");
    const frames = await until(subscription, ended);
    const shown = frames.flatMap((frame) => frame.type === "message" ? [frame.text] : []);
    assertEquals([shown.join(""), shown.every((each) => each !== "" && each.isWellFormed())], [text, true]);
    const { rows } = await readAll(subscription, { after: 1, maxLength: 2 });
    assertEquals([bodies(rows).get("m"), rows[0]?.sha256], [text, digestOf(text)]);
  });
}

Deno.test("[T5] a long piece goes out in frames of at most 16 Ki that part no pair", async () => {
  const text = "\u{1f600}".repeat(20_000);
  await using world = worldOf((_turn, sink) => sink.message("m", "text", "x" + text));
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const shown = frames.flatMap((frame) => frame.type === "message" ? [frame] : []);
  assertEquals(shown.map((frame) => frame.text).join(""), "x" + text);
  assertEquals(shown.every((frame) => frame.text.length <= 16 * 1024 && frame.text.isWellFormed()), true);
  assertEquals(shown.map((frame) => frame.offset), [0, 16_383, 32_767]);
});

Deno.test("[H3] a Turn that a crash interrupted ends as interrupted, keeps what was saved, and the next one works", async () => {
  const memory = new MemoryStore();
  const crashed = new FaultyStore(unclosed(memory));
  const hanging = gate();
  const steps = stepped(async (sink) => {
    await sink.message("m", "text", "half a sen");
    await sink.toolStart("x", TOOL);
    await sink.toolOutput("x", "stdout", "some");
    await sink.background(async () => {
      await hanging.promise;
      return { kind: "completed", stopReason: "end_turn" };
    });
  }, (sink) => sink.message("m", "text", "tence"));
  const before = worldOf(steps.script, { store: crashed });
  const first = before.host.connect("c1");
  await opened(first);
  const run = await started(first, "t1");
  await steps.reached(0);
  await before.clock.advance(250);
  steps.pass(0);
  await steps.reached(1);
  // From here on nothing reaches the disk, and the lock is free: the process is gone.
  crashed.onCommit = () => Promise.reject(new HostError("unavailable", "Gone"));
  steps.pass(1);
  hanging.open();
  await before.host.close();
  await using world = worldOf(() => Promise.resolve(), { store: memory });
  const connection = world.host.connect("c2");
  const subscription = await connection.sessions.open("s1", NO_SERVICES);
  assertEquals(subscription.snapshot.runs, []);
  const state = await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: true });
  assertEquals(state.kind === "ended" && [state.run, state.end], [run, { how: "interrupted" }]);
  const { rows } = await readAll(subscription);
  assertEquals(rows.map((row) => [row.kind, row.complete]), [
    ["user", true],
    ["text", true],
    ["tool", true],
    ["end", true],
    ["end", true],
  ]);
  assertEquals(bodies(rows).get("m"), "half a sen");
  for (const row of rows) assertEquals(row.sha256, digestOf(row.body?.text ?? ""));
  assertEquals([subscription.snapshot.watermark, subscription.snapshot.last], [5, 5]);
  await started(connection, "t2");
  const end = (await until(subscription, ended)).find(ended);
  assertEquals(end?.type === "run_ended" && end.end.how, "completed");
});

Deno.test("[K5] tool rows: the middle of much output is dropped and counted; the rest is whole", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.toolStart("x", TOOL);
    for (let line = 0; line < 1000; line++) {
      await sink.toolOutput("x", "stdout", `${String(line).padStart(9)}\n`);
    }
  }, { limits: { toolOutputLength: 1000 } });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const row = (await readAll(subscription)).rows.find((each) => each.kind === "tool");
  const body = decodeBody("tool", row?.body?.text ?? "");
  if (body.kind !== "tool") throw new Error("There is no tool");
  const { text = "", dropped } = body.tool.output ?? {};
  assertEquals([text.length, dropped], [1000, 9000]);
  assertEquals([text.slice(0, 10), text.slice(490, 510), text.slice(-10)], [
    "        0\n",
    "       49\n      950\n",
    "      999\n",
  ]);
  assertEquals([body.tool.result, row?.complete], [undefined, true]);
});

Deno.test("a tool that writes much and long costs the store in proportion", async () => {
  const store = new FaultyStore();
  await using world = worldOf(async (_turn, sink) => {
    await sink.toolStart("x", TOOL);
    for (let count = 0; count < 4096; count++) await sink.toolOutput("x", "stdout", "x".repeat(1024));
  }, { store, limits: { checkpointLength: 64 * 1024, toolOutputLength: 256 * 1024 } });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  while ((await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: false })).kind === "live") {
    await world.clock.turn();
  }
  await subscription.close();
  const written = store.batches.flat().reduce(
    (sum, write) => sum + (write.op === "body" ? write.text.length : 0),
    0,
  );
  assertEquals(written < 4 * 1024 * 1024, true, `${written} units were written for 4 Mi`);
});

Deno.test("[K3] a result of more than 32 Ki goes to the transcript alone; its frame says so", async () => {
  const text = "y".repeat(33 * 1024);
  await using world = worldOf(async (_turn, sink) => {
    for (const [id, content] of [["big", text], ["small", "y"]] as const) {
      await sink.toolStart(id, TOOL);
      await sink.toolOutput(id, "stdout", "live");
      await sink.toolResult(id, {
        status: "completed",
        content: [{ kind: "text", text: content }],
        diffs: [],
        exitCode: 0,
      });
    }
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = (await until(subscription, ended)).flatMap((frame) =>
    frame.type === "tool_result" ? [frame] : []
  );
  assertEquals(frames.map((frame) => [frame.contentOmitted, frame.result?.exitCode]), [[true, undefined], [
    false,
    0,
  ]]);
  const rows = (await readAll(subscription)).rows.filter((row) => row.kind === "tool");
  assertEquals(
    frames.map((frame) => [frame.length, frame.sha256]),
    rows.map((row) => [row.length, row.sha256]),
  );
  const tool = decodeBody("tool", rows[0]?.body?.text ?? "");
  assertEquals(tool.kind === "tool" && [tool.tool.result?.content, tool.tool.output], [[{
    kind: "text",
    text,
  }], undefined]);
});

Deno.test("[R4] a result that no reader could take is kept as a sentence", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.toolResult("x", {
      status: "completed",
      content: [{ kind: "text", text: "z".repeat(2000) }],
      diffs: [],
    });
  }, { limits: { assemblyLength: 1000 } });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const row = (await readAll(subscription)).rows.find((each) => each.kind === "tool");
  const body = decodeBody("tool", row?.body?.text ?? "");
  assertEquals(body.kind === "tool" && body.tool.result?.content[0], {
    kind: "text",
    text: `The tool's result of 2195 characters is too large to keep`,
  });
});

Deno.test("successive plans that were not saved yet are one row", async () => {
  const steps = stepped(
    async (sink) => {
      await sink.plan([{ content: "a", priority: "low", status: "pending" }]);
      await sink.plan([{ content: "b", priority: "low", status: "pending" }]);
    },
    (sink) => sink.plan([{ content: "c", priority: "low", status: "pending" }]),
  );
  await using world = worldOf(steps.script);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await steps.reached(0);
  await world.clock.advance(250);
  steps.pass(0);
  await steps.reached(1);
  steps.pass(1);
  const frames = await until(subscription, ended);
  assertEquals(frames.filter((frame) => frame.type === "plan").length, 3);
  const plans = (await readAll(subscription)).rows.filter((row) => row.kind === "plan");
  const contents = plans.map((row) => {
    const body = decodeBody("plan", row.body?.text ?? "");
    return body.kind === "plan" && body.entries[0]?.content;
  });
  assertEquals(contents, ["b", "c"]);
});

Deno.test("a long message in small pieces keeps little in memory beside the store", async () => {
  const lengths: number[] = [];
  const store = new FaultyStore();
  store.onCommit = (batch) => {
    for (const write of batch) if (write.op === "append") lengths.push(write.text.length);
  };
  const count = 100_000;
  await using world = worldOf(async (_turn, sink) => {
    for (let index = 0; index < count; index++) await sink.message("m", "text", "0123456789abcdef");
  }, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  assertEquals(lengths.reduce((sum, each) => sum + each, 0), count * 16);
  assertEquals(
    Math.max(...lengths) <= 2 * 256 * 1024,
    true,
    "no save holds more than twice checkpointLength",
  );
  assertEquals(
    done(await connection.sessions.create({ sessionId: "s2", cwd: "/w", roots: [], mcpServers: [] }))
      .sessionId,
    "s2",
  );
});
