/** A child process that works on a state folder; see `child.ts` for what it understands. */
export class StoreProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: ReadableStreamDefaultReader<string>;
  #buffer = "";

  /** Starts it. `wrap` goes before the program, to limit what it may use. */
  constructor(folder: string, args: readonly string[] = [], wrap: readonly string[] = []) {
    const command = [
      ...wrap,
      Deno.execPath(),
      "run",
      "--no-check",
      "--no-prompt",
      "-A",
      new URL("./child.ts", import.meta.url).pathname,
      folder,
      ...args,
    ];
    this.#child = new Deno.Command(command[0] ?? "", {
      args: command.slice(1),
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Gives a command without waiting for the answer. */
  async tell(name: string, ...args: unknown[]): Promise<void> {
    await this.#input.write(new TextEncoder().encode(JSON.stringify([name, ...args]) + "\n"));
  }

  /** Gives a command and returns its answer; undefined where the process ended first. */
  async ask(name: string, ...args: unknown[]): Promise<unknown> {
    await this.tell(name, ...args);
    return await this.next();
  }

  /** The next answer; undefined where there is none any more. */
  async next(): Promise<unknown> {
    for (;;) {
      const end = this.#buffer.indexOf("\n");
      if (end >= 0) {
        const line = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 1);
        return JSON.parse(line);
      }
      const { done, value } = await this.#lines.read();
      if (done) return undefined;
      this.#buffer += value;
    }
  }

  /** Kills it as a crash would, and returns the answers that were on their way. */
  async kill(): Promise<unknown[]> {
    try {
      this.#child.kill("SIGKILL");
    } catch (cause) {
      // It has killed itself.
      if (!(cause instanceof TypeError)) throw cause;
    }
    const rest: unknown[] = [];
    for (let answer = await this.next(); answer !== undefined; answer = await this.next()) rest.push(answer);
    return rest;
  }

  /** Ends it if it still runs, and waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close().catch(() => {});
    while (await this.next() !== undefined);
    await this.#child.status;
  }
}
