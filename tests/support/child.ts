import type { Launch } from "./launch.ts";

/** What a child's owner wants to hear. */
export interface ChildEars {
  /** A line of stdout without its end, and its length in bytes. */
  line(text: string, bytes: number): void;
  /** Stdout ended; `rest` is what came after the last line end. */
  ended(rest: string): void;
  /** Stderr grew. */
  complained(): void;
}

/** A child process by its streams: bytes in, lines out, and reading that can be put off. */
export class Child {
  /** What it wrote to stderr so far; empty where that is left unread. */
  stderr = "";
  #process: Deno.ChildProcess;
  #ears: ChildEars;
  #stdin: WritableStreamDefaultWriter<Uint8Array>;
  #gate: PromiseWithResolvers<void> | undefined;
  #readers: readonly Promise<void>[];
  #unread: boolean;

  /** Starts it. */
  constructor(launch: Launch, ears: ChildEars, stderr: "read" | "unread") {
    this.#process = new Deno.Command(launch.program, {
      args: [...launch.args],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      ...(launch.env === undefined ? {} : { env: { ...launch.env } }),
      ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
    }).spawn();
    this.#ears = ears;
    this.#unread = stderr === "unread";
    this.#stdin = this.#process.stdin.getWriter();
    this.#readers = this.#unread ? [this.#readLines()] : [this.#readLines(), this.#readErrors()];
  }

  /** Process id. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Writes bytes in order. A broken pipe shows as the end of output. */
  write(bytes: Uint8Array): void {
    this.#stdin.write(bytes).catch(() => {});
  }

  /** Ends its input after everything that was written. */
  async endInput(): Promise<void> {
    await this.#stdin.close().catch(() => {});
  }

  /** Stops reading its output. */
  hold(): void {
    this.#gate ??= Promise.withResolvers();
  }

  /** Reads on. */
  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Sends a signal; nothing happens where the process has ended. */
  signal(name: Deno.Signal): void {
    try {
      this.#process.kill(name);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }

  /** Resolves when the process has ended and its output was read. */
  async exited(): Promise<Deno.CommandStatus> {
    const status = await this.#process.status;
    if (this.#unread) await this.#process.stderr.cancel();
    await Promise.all(this.#readers);
    return status;
  }

  async #readLines(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let rest = new Uint8Array(0);
    for await (const chunk of this.#process.stdout) {
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        const line = join(rest, chunk.subarray(start, end));
        rest = new Uint8Array(0);
        start = end + 1;
        this.#ears.line(decoder.decode(line), line.length);
      }
      rest = join(rest, chunk.subarray(start));
      if (this.#gate !== undefined) await this.#gate.promise;
    }
    this.#ears.ended(new TextDecoder().decode(rest));
  }

  async #readErrors(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stderr) {
      this.stderr += decoder.decode(chunk, { stream: true });
      this.#ears.complained();
    }
  }
}

function join(head: Uint8Array<ArrayBuffer>, tail: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (head.length === 0) return tail.slice();
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
