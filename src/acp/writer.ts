import { ClientGone } from "../session/ports.ts";

type Waiting = PromiseWithResolvers<void>;

/** A promise that may be left alone: nobody is obliged to look at its rejection. */
function waiting(): Waiting {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => {});
  return made;
}

/**
 * The one way out: lines in the order of `send`, all that is queued in one write, one write at a time. A write a line costs
 * four to six times as much. After the first failure everything here fails with {@linkcode ClientGone}, and no promise that
 * was handed out needs to be looked at.
 */
export class LineWriter {
  /** Resolves when the Client's end broke or this writer was closed; never rejects. */
  readonly gone: Promise<void>;

  #output: WritableStreamDefaultWriter<Uint8Array>;
  #highWater: number;
  #encoder: TextEncoder = new TextEncoder();
  #lines: string[] = [];
  #queued = 0;
  #moving = 0;
  #running = false;
  #failure: ClientGone | undefined;
  #room: Waiting | undefined;
  #queueFlushed: Waiting | undefined;
  #writeFlushed: Waiting | undefined;
  #gone: Waiting = waiting();

  /** Locks `output` for good. `highWater` is in UTF-16 units of the lines, which is bytes for ASCII and less for the rest. */
  constructor(output: WritableStream<Uint8Array>, highWater: number) {
    this.#output = output.getWriter();
    this.#highWater = highWater;
    this.gone = this.#gone.promise;
    // A Client that goes away while nothing is written shows here and nowhere else.
    this.#output.closed.then(() => this.#fail(), (cause) => this.#fail(cause));
  }

  /** What waits and what is being written, in UTF-16 units. */
  get backlog(): number {
    return this.#queued + this.#moving;
  }

  /** Puts a line, line feed included, behind those before it. Throws {@linkcode ClientGone}; never blocks. */
  send(line: string): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#lines.push(line);
    this.#queued += line.length;
    if (this.#running) return;
    this.#running = true;
    // The rest of this turn's lines join the write.
    queueMicrotask(() => void this.#run());
  }

  /** Undefined while there is room; else resolves when there is again. Rejects with {@linkcode ClientGone}. */
  room(): Promise<void> | undefined {
    if (this.#failure !== undefined) return this.#refused();
    if (this.backlog < this.#highWater) return undefined;
    return (this.#room ??= waiting()).promise;
  }

  /** Resolves when every line sent so far has left this process. Rejects with {@linkcode ClientGone}. */
  flushed(): Promise<void> {
    if (this.#failure !== undefined) return this.#refused();
    if (this.#lines.length > 0) return (this.#queueFlushed ??= waiting()).promise;
    if (this.#moving > 0) return (this.#writeFlushed ??= waiting()).promise;
    return Promise.resolve();
  }

  /** Writes what is queued and closes the output; nothing can be sent afterwards. Never rejects. */
  async close(): Promise<void> {
    try {
      await this.flushed();
      await this.#output.close();
    } catch (cause) {
      this.#fail(cause);
    }
  }

  /** Drops what is queued, fails everyone who waits and gives the output up without waiting for it. */
  abort(): void {
    this.#fail();
    this.#output.abort(this.#failure).catch(() => {});
  }

  async #run(): Promise<void> {
    try {
      while (this.#lines.length > 0 && this.#failure === undefined) {
        const text = this.#lines.length === 1 ? this.#lines[0]! : this.#lines.join("");
        this.#lines = [];
        this.#moving = this.#queued;
        this.#queued = 0;
        this.#writeFlushed = this.#queueFlushed;
        this.#queueFlushed = undefined;
        await this.#output.write(this.#encoder.encode(text));
        this.#moving = 0;
        this.#writeFlushed?.resolve();
        this.#writeFlushed = undefined;
        if (this.backlog < this.#highWater) {
          this.#room?.resolve();
          this.#room = undefined;
        }
      }
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#running = false;
    }
  }

  #refused(): Promise<void> {
    const refused = Promise.reject(this.#failure);
    refused.catch(() => {});
    return refused;
  }

  #fail(cause?: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = new ClientGone(cause === undefined ? undefined : { cause });
    this.#lines = [];
    this.#queued = 0;
    this.#moving = 0;
    for (const one of [this.#room, this.#queueFlushed, this.#writeFlushed]) one?.reject(this.#failure);
    this.#room = this.#queueFlushed = this.#writeFlushed = undefined;
    this.#gone.resolve();
  }
}
