import { AgentFailure } from "./failure.ts";
import { atMost } from "../waiting.ts";
import { cut } from "./shape.ts";
import type { Log } from "../../model/log.ts";

/** How an agent is started. */
export interface AgentCommand {
  /** A program by its path or by its name in PATH. */
  readonly program: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Variables beside those that it inherits. */
  readonly env?: Readonly<Record<string, string>>;
  /** `given`: it inherits nothing, and `env` is all that it has. `inherited` where absent. */
  readonly environment?: "inherited" | "given";
  /** Where it is started; Gangway's own working directory where absent. Sessions bring their own. */
  readonly cwd?: string;
}

/** How a process ended. */
export interface AgentExit {
  /** Absent where it was killed. */
  readonly code?: number;
}

/** Marks the line on stderr by which the shell tells the agent's exit code. */
const EXIT_MARK = "\u001eexit ";

/**
 * Starts the agent (`$@`) in a process group of its own. Its input runs through a `cat`, which ends when our end of the pipe does:
 * because we close it, or because this process is gone in whatever way. Then the agent's input ends too, and what is still there
 * a moment later is killed, with everything that it started. The same happens at once when the agent ends by itself. No permission
 * to send signals is needed.
 */
const WATCHED = `
exec 3<&0 </dev/null
{ trap '' HUP INT TERM; cat <&3; exec 3<&- >&-; sleep 0.3; kill -KILL 0; } 2>/dev/null | {
exec 3<&-
"$@"
printf '\\036exit %d\\n' "$?" >&2
kill -KILL 0
}`;

/** Milliseconds from the end of its input after which the agent is killed: by us where no shell is there to do it before. */
const CLOSE_MS = { watched: 1500, direct: 300 } as const;
/** Milliseconds for the last lines of stderr behind the end of the process. */
const LAST_WORDS_MS = 100;
/** UTF-16 units of one line of stderr in the log, and of all that a process writes. */
const LINE = 2000;
const TOTAL = 1024 * 1024;
/** UTF-16 units of the end of stderr that are kept for a person who looks for a reason. */
const TAIL = 4000;

/** One process of an agent with everything that it started. */
export class AgentProcess {
  /** The protocol, from the agent. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Settles when the process is gone; never rejects. */
  readonly ended: Promise<AgentExit>;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #log: Log;
  readonly #how: keyof typeof CLOSE_MS;
  #exit: AgentExit = {};
  #words = "";
  #logged = 0;

  private constructor(child: Deno.ChildProcess, log: Log, how: keyof typeof CLOSE_MS) {
    this.#how = how;
    this.#child = child;
    this.#log = log;
    this.#writer = child.stdin.getWriter();
    this.stdout = child.stdout;
    const errors = child.stderr.getReader();
    const heard = this.#listen(errors);
    this.ended = child.status.then(async ({ code, signal }) => {
      await atMost(LAST_WORDS_MS, heard);
      // Something that moved away may hold the pipe for ever.
      await errors.cancel();
      await this.#end();
      return signal === null ? { code } : this.#exit;
    });
  }

  /** Starts it. Throws an {@linkcode AgentFailure} where the system or the permissions do not let it. */
  static start(command: AgentCommand, log: Log): AgentProcess {
    const { program, args, env, environment, cwd } = command;
    const watched = Deno.build.os !== "windows" && mayRun("sh");
    try {
      const child = new Deno.Command(watched ? "sh" : program, {
        args: watched ? ["-c", WATCHED, "sh", program, ...args] : [...args],
        ...(env === undefined ? {} : { env: { ...env } }),
        clearEnv: environment === "given",
        ...(cwd === undefined ? {} : { cwd }),
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
        detached: watched,
      }).spawn();
      return new AgentProcess(child, log, watched ? "watched" : "direct");
    } catch (error) {
      throw new AgentFailure(
        "engine_gone",
        `The agent "${program}" cannot be started: ${reasonOf(error, program)}`,
      );
    }
  }

  /** The end of what it wrote to stderr. */
  get lastWords(): string {
    return this.#words.slice(-TAIL);
  }

  /** Writes to its stdin. Rejects where it is gone. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#writer.write(bytes);
  }

  /** Ends its input, and with that the agent and all that it started. Resolves when they are gone. */
  async close(): Promise<void> {
    await this.#end();
    await atMost(CLOSE_MS[this.#how], this.#child.status);
    try {
      // Only one that was started without a shell is still there, or whose shell was stopped.
      this.#child.kill("SIGKILL");
    } catch {
      // It is gone.
    }
    await this.ended;
  }

  async #end(): Promise<void> {
    await this.#writer.close().catch(() => {});
  }

  async #listen(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let open = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (open + decoder.decode(read.value, { stream: true })).split("\n");
      open = lines.pop() ?? "";
      if (open.length > LINE) {
        lines.push(open);
        open = "";
      }
      for (const line of lines) this.#hear(line);
    }
    if (open !== "") this.#hear(open);
  }

  #hear(line: string): void {
    const mark = line.indexOf(EXIT_MARK);
    if (mark >= 0) {
      this.#exit = { code: Number(line.slice(mark + EXIT_MARK.length)) };
      return;
    }
    this.#words = `${this.#words}${cut(line, LINE)}\n`.slice(-2 * TAIL);
    if (this.#logged > TOTAL) return;
    this.#logged += line.length;
    if (this.#logged > TOTAL) {
      return this.#log.warn("The agent writes so much to stderr that the rest is left out");
    }
    if (line.trim() !== "") this.#log.info("The agent wrote to stderr", { line: cut(line, LINE) });
  }
}

/** What is known about an end that nobody wished for, as a sentence. */
export function exitSentence(exit: AgentExit, program: string): string {
  // A shell adds 128 to the number of the signal.
  const signal = exit.code === undefined ? 0 : exit.code - 128;
  if (signal > 0 && signal < 32) {
    return `The agent was killed by signal ${signal}. The next prompt starts it again`;
  }
  switch (exit.code) {
    case undefined:
      return "The agent was killed. The next prompt starts it again";
    case 126:
      return `The agent cannot be started: "${program}" is no program that can be run`;
    case 127:
      return `The agent cannot be started: there is no program "${program}"`;
    default:
      return `The agent ended by itself with exit code ${exit.code}. The next prompt starts it again`;
  }
}

function mayRun(command: string): boolean {
  return Deno.permissions.querySync({ name: "run", command }).state === "granted";
}

function reasonOf(error: unknown, program: string): string {
  if (error instanceof Deno.errors.NotCapable) {
    return `start Gangway with --allow-run=${Deno.build.os === "windows" ? program : "sh"}`;
  }
  if (error instanceof Deno.errors.NotFound) return "there is no such program, or no such working directory";
  return error instanceof Error ? error.message.replace(/ \(os error \d+\).*$/s, "") : String(error);
}
