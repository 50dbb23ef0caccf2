import { setImmediate } from "node:timers";
import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import type { Frame } from "../../../src/model/frame.ts";
import { LIMITS } from "../../../src/limits.ts";
import { FrameQueue } from "../../../src/host/local/queue.ts";
import { gate } from "./faulty_store.ts";
import { embedded, ended, NO_SERVICES, opened, started, until, worldOf } from "./world.ts";

const RUN = { turnId: "t", runId: "r" };

function text(offset: number, piece: string, messageId = "m"): Frame {
  return { type: "message", run: RUN, messageId, channel: "text", offset, text: piece };
}

function output(seq: number, piece: string, stream: "stdout" | "stderr" = "stdout", redacted = false): Frame {
  return { type: "tool_output", run: RUN, toolCallId: "x", seq, stream, redacted, text: piece };
}

const PROGRESS: Frame = { type: "tool_progress", run: RUN, toolCallId: "x", message: "p" };

/** Frames that are pushed after a full queue, and what leaves it. */
const MERGES: readonly [string, readonly Frame[], readonly Frame[]][] = [
  ["deltas of one message", [text(0, "a"), text(1, "b"), text(2, "c")], [text(0, "abc")]],
  ["a gap in a message", [text(0, "a"), text(2, "c")], [text(0, "a"), text(2, "c")]],
  ["two messages", [text(0, "a"), text(0, "b", "n"), text(1, "c")], [
    text(0, "a"),
    text(0, "b", "n"),
    text(1, "c"),
  ]],
  ["something between", [text(0, "a"), PROGRESS, text(1, "b"), text(2, "c")], [
    text(0, "a"),
    PROGRESS,
    text(1, "bc"),
  ]],
  ["outputs of a tool", [output(4, "a"), output(5, "b"), output(6, "c")], [
    { ...output(4, "abc"), count: 3 } as Frame,
  ]],
  ["a jump in outputs", [output(4, "a"), output(6, "b")], [output(4, "a"), output(6, "b")]],
  ["two streams", [output(4, "a"), output(5, "b", "stderr")], [output(4, "a"), output(5, "b", "stderr")]],
  ["redacted and not", [output(4, "a"), output(5, "b", "stdout", true)], [
    output(4, "a"),
    output(5, "b", "stdout", true),
  ]],
  ["another Run's message", [text(0, "a"), { ...text(1, "b"), run: { ...RUN, runId: "q" } } as Frame], [
    text(0, "a"),
    { ...text(1, "b"), run: { ...RUN, runId: "q" } } as Frame,
  ]],
];
for (const [what, pushed, want] of MERGES) {
  Deno.test(`[R1] a full queue merges what follows without a gap: ${what}`, () => {
    const queue = new FrameQueue({ ...LIMITS, queueFrames: 1 });
    const kept = structuredClone(pushed);
    for (const frame of pushed) queue.push(frame, 1);
    assertEquals(queue.drain(), want);
    assertEquals(pushed, kept, "frames are shared, so they are not changed");
    assertEquals(queue.empty, true);
  });
}

Deno.test("a queue with room merges nothing", () => {
  const queue = new FrameQueue({ ...LIMITS, queueFrames: 3 });
  const pushed = [text(0, "a"), text(1, "b"), text(2, "c")];
  for (const frame of [...pushed, text(3, "d")]) queue.push(frame, 1);
  const drained = queue.drain();
  assertEquals(drained, [text(0, "a"), text(1, "b"), text(2, "cd")]);
  assertStrictEquals(drained[0], pushed[0]);
});

Deno.test("a queue is bounded by its text and by the number of its frames, but takes any lone frame", () => {
  const limits = { ...LIMITS, queueLength: 1000, queueFrames: 2 };
  const queue = new FrameQueue(limits);
  assertEquals(queue.push(text(0, "x".repeat(5000)), 5000), true);
  assertEquals(queue.push(text(5000, "y"), 1), false);
  queue.drain();
  let taken = 0;
  while (queue.push(text(taken * 10, "0123456789"), 10)) taken++;
  assertEquals(taken > 80 && taken <= 100, true, `${taken} deltas of 10`);
  queue.drain();
  let frames = 0;
  while (queue.push(PROGRESS, 0)) frames++;
  assertEquals(frames <= 16, true, `${frames} frames without text`);
});

embedded("[R1] frames are numbered without a gap, and next gives all that is queued", async () => {
  const go = gate();
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m", "text", "a");
    await go.promise;
    await sink.message("m", "text", "b");
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await world.clock.turn();
  const first = await subscription.next();
  assertEquals([first.first, first.frames.length > 1], [1, true]);
  const waiting = subscription.next();
  const twice = await assertRejects(() => subscription.next(), HostError);
  assertEquals(twice.code, "invalid");
  go.open();
  const second = await waiting;
  assertEquals(second.first, first.frames.length + 1);
  const third = await subscription.next();
  assertEquals(third.first, second.first + second.frames.length);
  await subscription.close();
  await subscription.close();
  assertEquals(await subscription.next(), { first: third.first + third.frames.length, frames: [] });
});

Deno.test("close lets a waiting next return", async () => {
  await using world = worldOf(() => Promise.resolve());
  const subscription = await opened(world.host.connect("c1"));
  const waiting = subscription.next();
  await subscription.close();
  assertEquals(await waiting, { first: 1, frames: [] });
});

embedded(
  "[R1] a consumer that does not fetch is ended with slow_consumer; the Engine and others do not notice",
  async () => {
    await using world = worldOf(async (_turn, sink) => {
      for (let count = 0; count < 3000; count++) await sink.message("m", "text", "x".repeat(100));
    });
    const connection = world.host.connect("c1");
    const slow = await opened(connection);
    const quick = await world.host.connect("c2").sessions.open("s1", NO_SERVICES);
    await started(connection, "t1");
    const frames = await until(quick, ended);
    assertEquals(
      frames.filter((frame) => frame.type === "message").length,
      3000,
      "nothing is merged for who keeps up",
    );
    const { frames: queued } = await slow.next();
    assertEquals(queued.at(-1), { type: "closed", reason: "slow_consumer" });
    assertEquals(queued.length, 65);
    const shown = queued.flatMap((frame) => frame.type === "message" ? [frame.text] : []).join("");
    assertEquals(
      shown.length > 200_000 && shown.length <= 256 * 1024,
      true,
      `${shown.length} units were queued`,
    );
    assertEquals((await slow.next()).frames, []);
    // What it missed is in the transcript.
    const again = await connection.sessions.open("s1", NO_SERVICES);
    const { rows } = await again.read({ after: 1, maxLength: 1_000_000 });
    assertEquals(rows[0]?.body?.text.length, 300_000);
  },
);

embedded(
  "[R1] [R3] a snapshot is the whole present state, and its first frame is what happened next",
  async () => {
    const go = gate();
    const reached = gate();
    await using world = worldOf(async (_turn, sink) => {
      await sink.message("m", "text", "abc");
      await sink.usage({ used: 1, size: 10 });
      reached.open();
      await go.promise;
      await sink.message("m", "text", "d");
    });
    const connection = world.host.connect("c1");
    const early = await opened(connection);
    const run = await started(connection, "t1");
    await reached.promise;
    const late = await world.host.connect("c2").sessions.open("s1", NO_SERVICES);
    const { snapshot } = late;
    assertEquals(snapshot.runs.map((live) => [live.run, live.phase]), [[run, "running"]]);
    assertEquals(snapshot.messages, [{ run, messageId: "m", channel: "text", length: 3 }]);
    assertEquals([snapshot.usage, snapshot.storeId], [{ used: 1, size: 10 }, world.store.storeId]);
    assertEquals(snapshot.hostEpoch, early.snapshot.hostEpoch);
    go.open();
    const { frames, first } = await late.next();
    assertEquals([first, frames[0]], [1, {
      type: "message",
      run,
      messageId: "m",
      channel: "text",
      offset: 3,
      text: "d",
    }]);
    const same = await until(early, ended);
    assertStrictEquals(same.find((frame) => frame.type === "message" && frame.offset === 3), frames[0]);
  },
);

Deno.test("an Engine that never waits leaves the event loop its turns", async () => {
  const counts: number[] = [];
  await using world = worldOf(async (_turn, sink) => {
    for (const [piece, most] of [["x", 1000], ["y".repeat(16 * 1024), 20]] as const) {
      let loop: "waits" | "ran" = "waits";
      setImmediate(() => loop = "ran");
      let calls = 0;
      for (const ran = () => loop === "ran"; !ran() && calls < most; calls++) {
        await sink.message("m", "text", piece);
      }
      counts.push(calls);
    }
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const [small = Infinity, large = Infinity] = counts;
  assertEquals([small <= 65, large <= 3], [true, true], `after ${counts} calls`);
});
