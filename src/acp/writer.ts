import { ClientGone } from "../session/ports.ts";

type Waiting = PromiseWithResolvers<void>;

/** A promise that may be left alone: nobody is obliged to look at its rejection. */
function waiting(): Waiting {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => {});
  return made;
}

/**
 * UTF-16 units that one write gathers, at least. As much as a pipe holds; encoding larger pieces costs several times as much for
 * each byte, since their memory comes straight from the system.
 */
const GATHERED = 64 * 1024;

/**
 * The one way out: lines in the order of `send`, what is queued in one write, one write at a time. A write a line costs four to
 * six times as much. After the first failure everything here fails with {@linkcode ClientGone}, and no promise that was handed
 * out needs to be looked at.
 */
export class LineWriter {
  /** Resolves when the Client's end broke or this writer was closed; never rejects. */
  readonly gone: Promise<void>;

  #output: WritableStreamDefaultWriter<Uint8Array>;
  #highWater: number;
  #encoder: TextEncoder = new TextEncoder();
  /** Full writes that wait, and the one that still grows. A growing text is cheaper than a list that is joined. */
  #full: string[] = [];
  #growing = "";
  #sent = 0;
  #left = 0;
  #running = false;
  #failure: ClientGone | undefined;
  #room: Waiting | undefined;
  /** Who waits for what, rising. */
  #flushes: { readonly at: number; readonly waiting: Waiting }[] = [];
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
    return this.#sent - this.#left;
  }

  /** Puts a line, line feed included, behind those before it. Throws {@linkcode ClientGone}; never blocks. */
  send(line: string): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#sent += line.length;
    this.#growing += line;
    if (this.#growing.length >= GATHERED) {
      this.#full.push(this.#growing);
      this.#growing = "";
    }
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
    if (this.backlog === 0) return Promise.resolve();
    let last = this.#flushes.at(-1);
    if (last?.at !== this.#sent) this.#flushes.push(last = { at: this.#sent, waiting: waiting() });
    return last.waiting.promise;
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
      while (this.backlog > 0 && this.#failure === undefined) {
        const text = this.#next();
        await this.#output.write(this.#encoder.encode(text));
        this.#left += text.length;
        while (this.#flushes.length > 0 && this.#flushes[0]!.at <= this.#left) {
          this.#flushes.shift()!.waiting.resolve();
        }
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

  #next(): string {
    const full = this.#full.shift();
    if (full !== undefined) return full;
    const text = this.#growing;
    this.#growing = "";
    return text;
  }

  #refused(): Promise<void> {
    const refused = Promise.reject(this.#failure);
    refused.catch(() => {});
    return refused;
  }

  #fail(cause?: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = new ClientGone(cause === undefined ? undefined : { cause });
    this.#full = [];
    this.#growing = "";
    this.#room?.reject(this.#failure);
    this.#room = undefined;
    for (const { waiting } of this.#flushes) waiting.reject(this.#failure);
    this.#flushes = [];
    this.#gone.resolve();
  }
}
