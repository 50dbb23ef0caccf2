import type { JsonObject } from "../../../src/model/json.ts";
import type { WireStream } from "../../../src/host/wire/mod.ts";
import { LineSplitter } from "../../../src/wire/lines.ts";

/** One end of a stream that says what a test writes, and hears line by line. */
export class Raw {
  readonly #stream: WireStream;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #splitter = new LineSplitter(64 * 1024 * 1024);
  readonly #lines: JsonObject[] = [];

  constructor(stream: WireStream) {
    this.#stream = stream;
    this.#writer = stream.writable.getWriter();
    this.#reader = stream.readable.getReader();
    this.#writer.closed.catch(() => {});
    this.#reader.closed.catch(() => {});
  }

  /** Writes text as it is, or a message as a line. */
  async say(what: string | JsonObject): Promise<void> {
    const text = typeof what === "string" ? what : `${JSON.stringify(what)}\n`;
    await this.#writer.write(new TextEncoder().encode(text));
  }

  /** The next message; undefined where the stream is over. */
  async hear(): Promise<JsonObject | undefined> {
    while (this.#lines.length === 0) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      for (const line of this.#splitter.push(value)) {
        if (line.kind === "text") this.#lines.push(JSON.parse(line.text));
      }
    }
    return this.#lines.shift();
  }

  /** The next message of that type. */
  async until(type: string): Promise<JsonObject> {
    for (;;) {
      const message = await this.hear();
      if (message === undefined) throw new Error(`The stream ended before "${type}" came`);
      if (message.type === type) return message;
    }
  }

  /** Asks and hears the reply. */
  async ask(id: number, op: string, of: JsonObject): Promise<JsonObject> {
    await this.say({ type: "ask", id, op, of });
    return await this.until("reply");
  }

  close(): void {
    this.#reader.cancel().catch(() => {});
    this.#writer.abort().catch(() => {});
    this.#stream.close();
  }
}

/** A first line that a Host welcomes. */
export function helloOf(change: JsonObject = {}): JsonObject {
  return {
    type: "hello",
    versions: { from: 1, to: 1 },
    features: ["resume", "watch"],
    connection: { id: "raw", key: "secret", attempt: 1 },
    client: { name: "test", version: "1" },
    ...change,
  };
}
