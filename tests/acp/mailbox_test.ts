import { assertEquals } from "@std/assert";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { LineWriter } from "../../src/acp/writer.ts";
import { Mailbox } from "../../src/acp/mailbox.ts";
import { systemClock } from "../../src/system.ts";

/** A mailbox with a test in the place of the SDK. */
class Box {
  readonly written: string[] = [];
  readonly log: string[] = [];
  readonly mailbox: Mailbox;
  #inbox: ReadableStreamDefaultReader<AnyMessage>;
  #outbox: WritableStreamDefaultWriter<AnyMessage>;

  constructor(ready: () => Promise<void> = () => Promise.resolve()) {
    const output = new WritableStream<Uint8Array>({
      write: (chunk) => void this.written.push(...new TextDecoder().decode(chunk).trim().split("\n")),
    });
    this.mailbox = new Mailbox({ writer: new LineWriter(output, 1000), settle: () => {}, ready });
    this.#inbox = this.mailbox.stream.readable.getReader();
    this.#outbox = this.mailbox.stream.writable.getWriter();
  }

  /** Gives a message in and notes when the next one may come. */
  take(method: string, id?: number): Promise<void> {
    const text = JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method });
    return this.mailbox.take({ kind: "text", text }).then(() => void this.log.push(`took ${method}`));
  }

  /** Reads the next message, as the SDK does, and notes it. */
  async read(): Promise<void> {
    const { value } = await this.#inbox.read();
    if (value !== undefined && "method" in value) this.log.push(`read ${value.method}`);
  }

  /** Its handler begins. */
  async begin(): Promise<void> {
    this.log.push("begun");
    this.mailbox.begun();
    await systemClock.turn();
  }

  /** Answers, as the SDK does. */
  async answer(id: number, result: object = {}): Promise<void> {
    this.log.push(`answered ${id}`);
    await this.#outbox.write({ jsonrpc: "2.0", id, result });
    await systemClock.turn();
  }

  /** A box that is past the handshake. */
  static async open(): Promise<Box> {
    const box = new Box();
    const taken = box.take("initialize", 0);
    await box.read();
    await box.begin();
    await box.answer(0);
    await taken;
    box.log.length = 0;
    box.written.length = 0;
    return box;
  }
}

Deno.test("[P6] [C8] a message is handed over when the handler of the one before has begun, and not sooner", async () => {
  const box = await Box.open();
  const all = (async () => {
    await box.take("session/prompt", 1);
    await box.take("session/cancel");
    await box.take("session/prompt", 2);
  })();
  for (let message = 0; message < 3; message++) {
    await box.read();
    // Time enough for the next one, if it came by itself.
    await systemClock.turn();
    await box.begin();
  }
  await all;
  assertEquals(box.log, [
    "read session/prompt",
    "begun",
    "took session/prompt",
    "read session/cancel",
    "begun",
    "took session/cancel",
    "read session/prompt",
    "begun",
    "took session/prompt",
  ]);
});

Deno.test("[A3] what follows a handshake waits for its answer and for what is loaded behind it", async () => {
  const loaded = Promise.withResolvers<void>();
  const box = new Box(() => loaded.promise.then(() => void box.log.push("ready")));
  const all = box.take("initialize", 0).then(() => box.take("session/list", 1));
  await box.read();
  await box.begin();
  await box.answer(0);
  loaded.resolve();
  await box.read();
  await box.begin();
  await all;
  assertEquals(box.log, [
    "read initialize",
    "begun",
    "answered 0",
    "ready",
    "took initialize",
    "read session/list",
    "begun",
    "took session/list",
  ]);
});

Deno.test("[A3] what follows another handshake waits for its answer as well", async () => {
  const box = await Box.open();
  const all = box.take("initialize", 1).then(() => box.take("session/list", 2));
  await box.read();
  await box.begin();
  await box.answer(1);
  await box.read();
  await box.begin();
  await all;
  assertEquals(box.log, [
    "read initialize",
    "begun",
    "answered 1",
    "took initialize",
    "read session/list",
    "begun",
    "took session/list",
  ]);
});

Deno.test("[A2] a notification before the handshake goes nowhere", async () => {
  const box = new Box();
  await box.take("session/cancel");
  const taken = box.take("initialize", 0);
  await box.read();
  await box.begin();
  await box.answer(0);
  await taken;
  assertEquals(box.log.filter((line) => line.startsWith("read")), ["read initialize"]);
});

Deno.test("[A9] what follows an answer happens when its line is with the writer, once", async () => {
  const box = await Box.open();
  const result = { sessionId: "s1" };
  box.mailbox.after(result, () => box.log.push("followed"));
  const taken = box.take("session/new", 1);
  await box.read();
  await box.begin();
  await taken;
  await box.answer(1, result);
  assertEquals(box.log.slice(-2), ["answered 1", "followed"]);
  assertEquals(box.written, ['{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}']);
});

Deno.test("[A5] a sealed mailbox lets nothing pass, in or out, and holds nobody up", async () => {
  const box = await Box.open();
  const taken = box.take("session/prompt", 1);
  const idle = box.mailbox.idle();
  box.mailbox.seal();
  await taken;
  await idle;
  await box.take("session/prompt", 2);
  await box.answer(1);
  assertEquals(box.written, []);
  box.mailbox.close();
});
