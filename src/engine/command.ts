import { atMost } from "./waiting.ts";

/** How a program ended: by itself with a code, or by a signal. */
export interface Exit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** A program to run. */
export interface Command {
  /** Its name or path, then its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Variables beside those that it inherits. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborting kills the command with everything that it started. */
  readonly signal: AbortSignal;
  /** Gets output as it appears; the command waits while it waits. */
  readonly output: (stream: "stdout" | "stderr", text: string) => Promise<void>;
}

/**
 * Starts the program (`$@`) in its own process group beside a watcher that reads our end of a pipe. When the pipe closes, because
 * we close it or because this process is gone in whatever way, the watcher kills the group: no permission to send signals is
 * needed, and not even `kill -9` of Gangway leaves anything behind but what moved to a session of its own.
 */
const WATCHED = `
exec 3<&0 </dev/null
(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** Milliseconds without output after a command's end, past which whoever still holds its pipes is no longer listened to. */
const SILENCE_MS = 200;
/** How often that wait is repeated while output still comes: something that moved away may write for ever. */
const SILENCE_ROUNDS = 50;

/**
 * Runs a program and waits for it; one that does not exist ends as the shell says it. Whatever it leaves running in its group ends with it.
 * Rejects with what Deno throws where nothing can be started, with the signal's reason after an abort, with what `output` throws.
 */
export async function runCommand({ argv, cwd, env, signal, output }: Command): Promise<Exit> {
  signal.throwIfAborted();
  const child = start(argv, cwd, env);
  const pass = (stream: "stdout" | "stderr") => async (text: string) => {
    if (!signal.aborted) await output(stream, text);
  };
  const pipes = [new Pipe(child.stdout, pass("stdout")), new Pipe(child.stderr, pass("stderr"))];
  const drained = Promise.all(pipes.map((pipe) => pipe.drained));
  const release = () => child.stdin.close().catch(() => {});
  const kill = () => {
    void release();
    // The shell may not have come as far as starting the watcher.
    killQuietly(child);
  };
  // Where the sink fails, nobody hears the command any more.
  drained.catch(kill);
  signal.addEventListener("abort", kill, { once: true });
  try {
    const status = await child.status;
    await release();
    // The end of the output tells that the whole group is gone.
    await (signal.aborted ? atMost(SILENCE_MS, drained) : untilSilent(pipes, drained));
    signal.throwIfAborted();
    return status.signal === null ? { exitCode: status.code } : { signal: status.signal };
  } finally {
    signal.removeEventListener("abort", kill);
    await Promise.all(pipes.map((pipe) => pipe.close()));
    await drained;
  }
}

function start(argv: readonly string[], cwd: string, env: Command["env"]): Deno.ChildProcess {
  return new Deno.Command("sh", {
    args: ["-c", WATCHED, "sh", ...argv],
    cwd,
    ...(env === undefined ? {} : { env: { ...env } }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
}

/** Whether programs can be run so: the system has a shell and this process may start it. */
export function mayRunCommands(): boolean {
  return Deno.build.os !== "windows" &&
    Deno.permissions.querySync({ name: "run", command: "sh" }).state === "granted";
}

function killQuietly(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
}

async function untilSilent(pipes: readonly Pipe[], drained: Promise<unknown>): Promise<void> {
  for (let round = 0; round < SILENCE_ROUNDS; round++) {
    const before = pipes.map((pipe) => pipe.pieces);
    await atMost(SILENCE_MS, drained);
    if (pipes.every((pipe, index) => pipe.state !== "passing" && pipe.pieces === before[index])) return;
  }
}

/** One output of a child, decoded and handed on piece by piece. */
class Pipe {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  /** `passing` while a piece is handed on, which may take as long as the Host's store does. */
  state: "reading" | "passing" | "ended" = "reading";
  pieces = 0;
  /** Settles at the end of the output; rejects with what the receiver throws. */
  readonly drained: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>, pass: (text: string) => Promise<void>) {
    this.#reader = stream.getReader();
    this.drained = this.#drain(pass);
  }

  /** Ends it; waiting output is dropped. */
  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }

  async #drain(pass: (text: string) => Promise<void>): Promise<void> {
    const decoder = new TextDecoder();
    while (this.state !== "ended") {
      const { value, done } = await this.#reader.read();
      const text = decoder.decode(value, { stream: !done });
      this.pieces++;
      this.state = "passing";
      if (text !== "") await pass(text);
      this.state = done ? "ended" : "reading";
    }
  }
}
