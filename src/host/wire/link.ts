import type { Clock } from "../../model/clock.ts";
import { type Line, LineSplitter } from "../../wire/lines.ts";
import type { WireLimits } from "./limits.ts";
import type { WireStream } from "./stream.ts";

/** A line that waits to be written. */
export interface Outgoing {
  /** Undefined once it was withdrawn or has left. */
  line: string | undefined;
  /** Called right before its bytes are given to the stream. */
  readonly leaving?: () => void;
}

/** The peer broke the protocol; its stream is cut. */
export class ProtocolError extends Error {
  /** Says what was wrong. */
  constructor(message: string) {
    super(message);
    this.name = "ProtocolError";
  }
}

/** Whether a line has at most so many bytes. It is measured only where it may have more. */
export function fits(line: string, bytes: number): boolean {
  return line.length * 3 <= bytes || new TextEncoder().encode(line).length <= bytes;
}

const PING = JSON.stringify({ type: "ping" });

/**
 * One stream as lines. What is sent in one turn of the event loop leaves in one write, in order; a peer that says nothing is asked for
 * a sign of life and at last cut. States: open, then over for ever.
 */
export class Link {
  readonly #stream: WireStream;
  readonly #clock: Clock;
  readonly #limits: WireLimits;
  readonly #splitter: LineSplitter;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #over = new AbortController();
  readonly #encoder = new TextEncoder();
  #outbox: Outgoing[] = [];
  #waiting = 0;
  #writing: "idle" | "busy" = "idle";
  /** When the write began that is not taken yet. */
  #writeBegan: number | undefined;
  #heard: number;
  #room: PromiseWithResolvers<void> | undefined;
  #empty: PromiseWithResolvers<void> | undefined;
  #reason = "";

  /** Takes the stream over. Lines are read up to `helloBytes` until {@linkcode greet}. */
  constructor(stream: WireStream, clock: Clock, limits: WireLimits) {
    this.#stream = stream;
    this.#clock = clock;
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits.helloBytes);
    this.#writer = stream.writable.getWriter();
    this.#reader = stream.readable.getReader();
    this.#writer.closed.catch(() => {});
    this.#reader.closed.catch(() => {});
    this.#heard = clock.now();
  }

  /** Aborts when the stream is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Why it is over. */
  get reason(): string {
    return this.#reason;
  }

  /** The peer is known: it may send longer lines from now on. */
  greet(): void {
    this.#splitter.raise(this.#limits.lineBytes);
  }

  /** Puts a line on its way. It is dropped where the stream is over. */
  send(line: string, leaving?: () => void): Outgoing {
    const outgoing: Outgoing = { line, leaving };
    if (this.signal.aborted) return outgoing;
    this.#outbox.push(outgoing);
    this.#waiting += line.length;
    if (this.#writing === "idle") {
      this.#writing = "busy";
      this.#write().catch((error) => this.cut(`it cannot be written to: ${error}`));
    }
    return outgoing;
  }

  /** Takes a line back. False where it has left already. */
  withdraw(outgoing: Outgoing): boolean {
    if (outgoing.line === undefined) return false;
    this.#waiting -= outgoing.line.length;
    outgoing.line = undefined;
    return true;
  }

  /** Undefined while there is room to send; else a promise for it. It resolves when the stream is over too. */
  room(): Promise<void> | undefined {
    if (this.#waiting <= this.#limits.outboxLength || this.signal.aborted) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Resolves when everything was written, or when the stream is over. */
  async flushed(): Promise<void> {
    if (this.#writing === "idle" || this.signal.aborted) return;
    this.#empty ??= Promise.withResolvers();
    await this.#empty.promise;
  }

  /** Writes what waits, for at most `ms`, then ends the stream. */
  async end(reason: string, ms: number): Promise<void> {
    const flushed = new AbortController();
    const late = this.#clock.sleep(ms, AbortSignal.any([flushed.signal, this.signal])).catch(() => {});
    await Promise.race([this.flushed(), late]);
    flushed.abort();
    this.cut(reason);
  }

  /** Hands out line after line until the stream is over; resolves with the reason. A throw of `take` cuts it. */
  async read(take: (line: Line) => void): Promise<string> {
    const watched = this.#watch();
    try {
      while (!this.signal.aborted) {
        const { value, done } = await this.#reader.read();
        if (done) {
          this.cut("the other side ended it");
          break;
        }
        this.#heard = this.#clock.now();
        for (const line of this.#splitter.push(value)) {
          if (this.signal.aborted) break;
          take(line);
        }
        const room = this.room();
        if (room !== undefined) await room;
      }
    } catch (error) {
      this.cut(error instanceof ProtocolError ? error.message : `it cannot be read: ${error}`);
    }
    await watched;
    return this.#reason;
  }

  /** Ends the stream at once. What waits is dropped. */
  cut(reason: string): void {
    if (this.signal.aborted) return;
    this.#reason = reason;
    this.#outbox = [];
    this.#waiting = 0;
    this.#over.abort();
    this.#room?.resolve();
    this.#empty?.resolve();
    this.#reader.cancel().catch(() => {});
    this.#writer.abort().catch(() => {});
    this.#stream.close();
  }

  async #write(): Promise<void> {
    // What is said in one turn of the event loop leaves together.
    await this.#clock.turn();
    while (!this.signal.aborted) {
      await this.#writer.ready;
      const block = this.#take();
      if (block === "") break;
      this.#writeBegan = this.#clock.now();
      await this.#writer.write(this.#encoder.encode(block));
      this.#writeBegan = undefined;
      if (this.#waiting <= this.#limits.outboxLength) {
        this.#room?.resolve();
        this.#room = undefined;
      }
    }
    this.#writing = "idle";
    this.#empty?.resolve();
    this.#empty = undefined;
  }

  #take(): string {
    const { blockLength } = this.#limits;
    let block = "";
    let count = 0;
    while (count < this.#outbox.length && block.length < blockLength) {
      const outgoing = this.#outbox[count++]!;
      if (outgoing.line === undefined) continue;
      outgoing.leaving?.();
      this.#waiting -= outgoing.line.length;
      block += outgoing.line + "\n";
      outgoing.line = undefined;
    }
    this.#outbox = count === this.#outbox.length ? [] : this.#outbox.slice(count);
    return block;
  }

  /** Asks a silent peer for a sign of life, and cuts one that gives none or takes nothing. */
  async #watch(): Promise<void> {
    const { quietMs, deadMs } = this.#limits;
    for (;;) {
      try {
        await this.#clock.sleep(quietMs, this.signal);
      } catch {
        return;
      }
      const now = this.#clock.now();
      if (now - this.#heard >= deadMs) this.cut("the other side is silent");
      else if (now - (this.#writeBegan ?? now) >= deadMs) this.cut("the other side takes nothing");
      else if (now - this.#heard >= quietMs) this.send(PING);
    }
  }
}
