import { assertEquals } from "@std/assert";
import type { EngineSink } from "../../../src/engine/contract.ts";
import type { Frame } from "../../../src/model/frame.ts";
import type { RunEnd } from "../../../src/model/run.ts";
import type { ToolInput } from "../../../src/model/tool.ts";
import { HostError } from "../../../src/host/errors.ts";
import { decodeBody } from "../../../src/model/row.ts";
import { diskFull, FaultyStore, gate } from "./faulty_store.ts";
import { done, ended, NO_SERVICES, opened, plain, type Script, started, until, worldOf } from "./world.ts";

const nothing = () => Promise.resolve();
const TOOL: ToolInput = { complete: true, sensitive: false, title: "Tool", kind: "read", locations: [] };

function endOf(frames: readonly Frame[]): RunEnd | undefined {
  const frame = frames.find(ended);
  return frame?.type === "run_ended" ? frame.end : undefined;
}

Deno.test("[P8] a start that cannot be saved is refused, starts nothing and uses nothing up", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const start = () => connection.turns.start({ sessionId: "s1", turnId: "t1", input: { parts: [] } });
  store.onCommit = () => Promise.reject(diskFull());
  const refused = await start();
  assertEquals(refused.kind === "answered" && refused.error.code, "persistence_failed");
  assertEquals(world.engine.asked, []);
  store.onCommit = nothing;
  done(await start());
  const frames = await until(subscription, ended);
  assertEquals([endOf(frames)?.how, frames[0]?.type], ["completed", "run"]);
});

Deno.test("a checkpoint that fails ends the Run with class storage; the Session goes on once there is room", async () => {
  const store = new FaultyStore();
  const spoke = gate();
  let signal: AbortSignal | undefined;
  let sink: EngineSink | undefined;
  await using world = worldOf(async (_turn, given, aborted) => {
    signal = aborted;
    sink = given;
    await given.message("m", "text", "unsaved");
    await given.toolStart("x", TOOL);
    spoke.open();
    await new Promise(() => {});
  }, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  await spoke.promise;
  store.onCommit = () => Promise.reject(diskFull());
  await world.clock.advance(250);
  const frames = await until(subscription, ended);
  assertEquals(plain(endOf(frames)), {
    how: "failed",
    failure: {
      class: "storage",
      message: "Cannot write to the state folder: the disk is full",
    },
  });
  assertEquals(signal?.aborted, true);
  await sink?.message("m", "text", "ignored");
  const state = () => connection.turns.query({ sessionId: "s1", turnId: "t1", settle: true });
  assertEquals((await state()).kind, "ended");
  // What was said is still read, and is saved with the next commit that succeeds.
  const read = async () =>
    (await subscription.read({ after: 0, maxLength: 10_000 })).rows.map((row) => [row.kind, row.complete]);
  const rows = [["user", true], ["text", true], ["tool", true], ["end", true]];
  assertEquals(await read(), rows);
  const refused = await connection.turns.start({ sessionId: "s1", turnId: "t2", input: { parts: [] } });
  assertEquals(refused.kind === "answered" && refused.error.code, "persistence_failed");
  store.onCommit = nothing;
  world.engine.script = nothing;
  await started(connection, "t3");
  assertEquals(endOf(await until(subscription, ended))?.how, "completed");
  assertEquals((await read()).slice(0, 4), rows);
  const records = store.batches.flat().flatMap((write) =>
    write.op === "turn" && write.turn.state === "ended" ? [write.turn] : []
  );
  assertEquals(records.map((record) => [record.run.turnId, record.end.how]), [["t1", "failed"], [
    "t3",
    "completed",
  ]]);
  assertEquals(records[0]?.run, run);
});

Deno.test("an end that cannot be saved is a storage failure, never a completed Turn, also in the row that is saved later", async () => {
  const store = new FaultyStore();
  await using world = worldOf((_turn, sink) => {
    store.onCommit = () => Promise.reject(diskFull());
    return sink.message("m", "text", "x");
  }, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const end = endOf(await until(subscription, ended));
  assertEquals(end?.how === "failed" && end.failure.class, "storage");
  store.onCommit = nothing;
  world.engine.script = nothing;
  await started(connection, "t2");
  await until(subscription, ended);
  // As the next process finds it.
  await connection.sessions.release("s1");
  const again = await connection.sessions.open("s1", NO_SERVICES);
  const { rows } = await again.read({ turnId: "t1", after: 0, maxLength: 10_000 });
  const last = rows.at(-1);
  const body = decodeBody("end", last?.body?.text ?? "");
  assertEquals(body.kind === "end" && body.end.how, "failed");
  assertEquals(rows.map((row) => row.kind), ["user", "text", "end"]);
});

Deno.test("a stop whose end cannot be saved is a stop all the same", async () => {
  const store = new FaultyStore();
  await using world = worldOf((_turn, _sink, signal) => {
    store.onCommit = () => Promise.reject(diskFull());
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  await until(subscription, (frame) => frame.type === "run" && frame.live.phase === "running");
  await connection.turns.stop({ sessionId: "s1", run });
  assertEquals(endOf(await until(subscription, ended)), { how: "stopped", by: "c1" });
  store.onCommit = nothing;
});

Deno.test("a Session whose last commits failed is let go of, and is interrupted for the next who opens it", async () => {
  const store = new FaultyStore();
  await using world = worldOf(() => {
    store.onCommit = () => Promise.reject(diskFull());
    return Promise.resolve();
  }, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  await connection.sessions.release("s1");
  while (!store.asked.includes("close s1")) await world.clock.turn();
  store.onCommit = nothing;
  const state = await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: false });
  assertEquals(state.kind === "ended" && state.end, { how: "interrupted" });
});

/** What an Engine may say that makes no sense. None of it may harm the Host or the Turn. */
const SENSELESS: readonly [string, Script][] = [
  ["text under an id that has ended", async (_turn, sink) => {
    await sink.message("m", "text", "a");
    await sink.messageComplete("m");
    await sink.message("m", "text", "b");
    await sink.messageComplete("m");
    await sink.messageReset("m");
    await sink.messageSuperseded("m", "n");
  }],
  ["ends of what never began", async (_turn, sink) => {
    await sink.messageComplete("none");
    await sink.messageReset("none");
    await sink.messageSuperseded("none", "other");
  }],
  ["a message that changes its channel", async (_turn, sink) => {
    await sink.message("m", "text", "a");
    await sink.message("m", "thinking", "b");
  }],
  ["empty text", async (_turn, sink) => {
    await sink.message("m", "text", "");
    await sink.toolStart("x", TOOL);
    await sink.toolOutput("x", "stdout", "");
  }],
  ["no text", (_turn, sink) => sink.message("m", "text", undefined as never)],
  ["a tool that starts twice and ends twice", async (_turn, sink) => {
    await sink.toolStart("x", TOOL);
    await sink.toolStart("x", { ...TOOL, title: "Other" });
    await sink.toolResult("x", { status: "completed", content: [], diffs: [] });
    await sink.toolResult("x", { status: "failed", content: [], diffs: [] });
    await sink.toolOutput("x", "stdout", "late");
    await sink.toolProgress("x", "late");
    await sink.toolInput("x", TOOL);
    await sink.toolStart("x", TOOL);
  }],
  ["input that JSON cannot hold", (_turn, sink) => sink.toolStart("x", { ...TOOL, raw: { n: 1n } as never })],
  ["no input", (_turn, sink) => sink.toolStart("x", undefined as never)],
  ["a made-up kind", (_turn, sink) => sink.toolStart("x", { kind: "dance" } as never)],
  ["a result that JSON cannot hold", async (_turn, sink) => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    await sink.toolResult("x", { status: "completed", content: [loop as never], diffs: [] });
  }],
  ["a result without content", (_turn, sink) => sink.toolResult("x", { status: "bored" } as never)],
  ["no result", (_turn, sink) => sink.toolResult("x", undefined as never)],
  ["a plan that JSON cannot hold", (_turn, sink) => sink.plan([{ content: 1n } as never])],
  ["a question that is none", async (_turn, sink) => {
    await sink.ask(undefined as never).catch(() => {});
    void sink.ask({} as never);
    void sink.call("nothing", {});
    void sink.call("fs/read_text_file", {}, 1 as never);
  }],
  ["background work that fails at once", async (_turn, sink) => {
    await sink.background(() => {
      throw new Error("No");
    });
    await sink.background(undefined as never);
  }],
];
for (const [what, script] of SENSELESS) {
  Deno.test(`an Engine says ${what}: the Turn ends well, and the transcript is sound`, async () => {
    await using world = worldOf(async (turn, sink, signal) => {
      await script(turn, sink, signal);
      await sink.message("last", "text", "well");
    });
    const connection = world.host.connect("c1");
    const subscription = await opened(connection);
    await started(connection, "t1");
    const frames = await until(
      subscription,
      (frame) => frame.type === "run_ended" && frame.run.turnId === "t1",
    );
    const end = frames.findLast((frame) => frame.type === "run_ended" && frame.run.turnId === "t1");
    assertEquals(end?.type === "run_ended" && end.end.how, "completed");
    const { rows } = await subscription.read({ turnId: "t1", after: 0, maxLength: 100_000 });
    for (const row of rows) decodeBody(row.kind, row.body?.text ?? "");
    assertEquals([rows[0]?.kind, rows.at(-2)?.body?.text, rows.at(-1)?.kind], ["user", "well", "end"]);
    assertEquals(rows.every((row) => row.complete), true);
    const calls = frames.filter((frame) => frame.type === "tool_start").length;
    assertEquals(rows.filter((row) => row.kind === "tool").length, calls, "one row and one start a tool");
    // Nothing is left behind.
    const late = await connection.sessions.open("s1", {
      readTextFile: false,
      writeTextFile: false,
      terminal: false,
      forms: false,
    });
    assertEquals(late.snapshot.messages, []);
    while (
      late.snapshot.runs.length > 0 &&
      (await connection.turns.query({
          sessionId: "s1",
          turnId: late.snapshot.runs[0]?.run.turnId ?? "",
          settle: false,
        })).kind === "live"
    ) {
      await world.clock.turn();
    }
  });
}

Deno.test("a message and a tool may have the same id", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("1", "text", "a");
    await sink.messageComplete("1");
    await sink.toolStart("1", TOOL);
    await sink.toolResult("1", { status: "completed", content: [], diffs: [] });
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const { rows } = await subscription.read({ after: 0, maxLength: 10_000 });
  assertEquals(rows.map((row) => row.kind), ["user", "text", "tool", "end"]);
});

Deno.test("news of a tool that was never started begins it, so that its result is not lost", async () => {
  await using world = worldOf((_turn, sink) =>
    sink.toolResult("late", { status: "completed", content: [{ kind: "text", text: "r" }], diffs: [] })
  );
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const tool = frames.filter((frame) => "toolCallId" in frame).map((frame) => frame.type);
  assertEquals(tool, ["tool_start", "tool_input", "tool_result"]);
});

Deno.test("what an Engine says after its Turn ended goes nowhere", async () => {
  let sink: EngineSink | undefined;
  await using world = worldOf((_turn, given) => {
    sink = given;
    return Promise.resolve();
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  await sink?.message("m", "text", "late");
  await sink?.toolStart("x", TOOL);
  await sink?.plan([]);
  await sink?.notice("info", "late");
  await sink?.usage({ used: 1, size: 2 });
  const late = [
    sink?.ask({ kind: "question", message: "?", options: [{ optionId: "a", name: "A" }] }),
    sink?.call("fs/read_text_file", {}),
    sink?.background(() => Promise.resolve({ kind: "completed", stopReason: "end_turn" })),
  ];
  assertEquals((await Promise.allSettled(late)).map((each) => each.status), [
    "rejected",
    "rejected",
    "rejected",
  ]);
  world.engine.script = nothing;
  await started(connection, "t2");
  const frames = await until(subscription, ended);
  assertEquals(frames.map((frame) => frame.type), ["run", "transcript", "run", "transcript", "run_ended"]);
});

Deno.test("a store that is gone at once for everything does not end the process", async () => {
  const store = new FaultyStore();
  const world = worldOf((_turn, sink) => sink.message("m", "text", "x"), { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  store.onCommit = () => {
    throw new TypeError("Surprise");
  };
  const reply = await connection.turns.start({ sessionId: "s1", turnId: "t1", input: { parts: [] } });
  if (reply.kind !== "answered") throw new Error(`It was ${reply.kind}`);
  assertEquals([reply.error.code, reply.error.message], ["persistence_failed", "Cannot save the Session"]);
  assertEquals(reply.error instanceof HostError, true);
  await world.host.close();
  assertEquals((await subscription.next()).frames.at(-1), { type: "closed", reason: "draining" });
});
