import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ClientGone } from "../../src/session/ports.ts";
import { LineWriter } from "../../src/acp/writer.ts";
import { systemClock } from "../../src/system.ts";

const decoder = new TextDecoder();

/** An output whose writes wait until they are let through. */
class Gate {
  readonly writes: string[] = [];
  readonly output: WritableStream<Uint8Array>;
  #waiting: PromiseWithResolvers<void>[] = [];
  #arrived: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor() {
    this.output = new WritableStream({
      write: async (chunk) => {
        this.writes.push(decoder.decode(chunk));
        const waiting = Promise.withResolvers<void>();
        this.#waiting.push(waiting);
        this.#arrived.resolve();
        this.#arrived = Promise.withResolvers();
        await waiting.promise;
      },
    });
  }

  /** Waits for a write to begin. */
  async begun(): Promise<void> {
    while (this.#waiting.length === 0) await this.#arrived.promise;
  }

  /** Waits for a write and lets it end, well or badly. */
  async pass(error?: Error): Promise<void> {
    await this.begun();
    const waiting = this.#waiting.shift()!;
    if (error === undefined) waiting.resolve();
    else waiting.reject(error);
  }
}

/** Whether a promise is settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const settle = () => done = true;
  promise.then(settle, settle);
  await systemClock.turn();
  return done;
}

Deno.test("[T4] lines leave in order, gathered, one write at a time", async () => {
  const gate = new Gate();
  const writer = new LineWriter(gate.output, 1000);
  writer.send("a\n");
  writer.send("b\n");
  const first = writer.flushed();
  await Promise.resolve();
  writer.send("c\n");
  writer.send("d\n");
  const second = writer.flushed();
  await gate.pass();
  await first;
  assertEquals(gate.writes, ["a\nb\n", "c\nd\n"]);
  assert(!await settled(second), "flushed speaks of what was sent before it");
  await gate.pass();
  await second;
  await writer.flushed();
  await writer.close();
});

Deno.test("[T4] more than one write gathers leaves in several, whole and in order", async () => {
  const gate = new Gate();
  const writer = new LineWriter(gate.output, 1);
  const lines = Array.from({ length: 300 }, (_, index) => `${index} ${"x".repeat(1000)}\n`);
  for (const line of lines) writer.send(line);
  const flushed = writer.flushed();
  for (let writes = 1; writes < 5; writes++) {
    await gate.pass();
    assert(!await settled(flushed), `after ${writes} writes`);
  }
  await gate.pass();
  await flushed;
  assertEquals(gate.writes.length, 5);
  assertEquals(gate.writes.join(""), lines.join(""));
  await writer.close();
});

Deno.test("there is room below the high water, and again when enough has left", async () => {
  const gate = new Gate();
  const writer = new LineWriter(gate.output, 10);
  assertEquals(writer.room(), undefined);
  writer.send("123456789");
  assertEquals(writer.room(), undefined);
  writer.send("0");
  const room = writer.room()!;
  assertEquals(writer.room(), room, "whoever waits, waits for the same moment");
  await Promise.resolve();
  writer.send("123");
  assertEquals(writer.backlog, 13, "what is being written counts");
  assert(!await settled(room));
  await gate.pass();
  await room;
  assertEquals(writer.room(), undefined);
  await gate.pass();
  await writer.close();
});

Deno.test("[T4] after a failed write everything fails with ClientGone, and nothing is left unhandled", async () => {
  const gate = new Gate();
  const writer = new LineWriter(gate.output, 3);
  writer.send("one\n");
  // Nobody looks at these two: an unhandled rejection would fail the test run.
  writer.room();
  writer.flushed();
  const flushed = writer.flushed();
  await gate.pass(new Error("Broken pipe"));
  await writer.gone;
  await assertRejects(() => flushed, ClientGone);
  assertThrows(() => writer.send("two\n"), ClientGone);
  await assertRejects(() => writer.room()!, ClientGone);
  await assertRejects(() => writer.flushed(), ClientGone);
  writer.room();
  writer.flushed();
  await writer.close();
  assertEquals(gate.writes, ["one\n"]);
});

Deno.test("a Client that goes away while nothing is written is noticed", async () => {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const writer = new LineWriter(pipe.writable, 10);
  await pipe.readable.cancel();
  await writer.gone;
  assertThrows(() => writer.send("x\n"), ClientGone);
});

Deno.test("closing writes what is queued; giving up does not wait", async () => {
  const gate = new Gate();
  const writer = new LineWriter(gate.output, 10);
  writer.send("last\n");
  const closed = writer.close();
  await gate.pass();
  await closed;
  assertEquals(gate.writes, ["last\n"]);
  assertThrows(() => writer.send("x\n"), ClientGone);

  const stuck = new Gate();
  const other = new LineWriter(stuck.output, 10);
  other.send("never read\n");
  const flushed = other.flushed();
  await stuck.begun();
  other.abort();
  await assertRejects(() => flushed, ClientGone);
  await stuck.pass();
});
