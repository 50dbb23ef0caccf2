import { failureOf, ToolFailure } from "./failure.ts";
import { atMost } from "../waiting.ts";
import type { Exit } from "./process.ts";
import { fieldOf } from "./answer.ts";
import type { Job } from "./job.ts";
import { LIMITS } from "../../limits.ts";

/** What a command did in the editor's terminal. */
export interface TerminalEnd extends Exit {
  readonly terminalId: string;
  /** The end of its output; `truncated` where the editor dropped the beginning. */
  readonly output: string;
  readonly truncated: boolean;
}

/** Milliseconds for the editor to take a terminal back; well within what the Host leaves a stopped Engine. */
const FAREWELL_MS = 100;

/**
 * Runs a command in a terminal of the editor and waits for it. `shown` is told the terminal's id at once. The terminal is released
 * however this ends, and killed first when the Turn is stopped. Rejects with a {@linkcode ToolFailure} where the editor refuses.
 */
export async function runInTerminal(
  job: Job,
  command: string,
  shown: (terminalId: string) => Promise<void>,
): Promise<TerminalEnd> {
  try {
    const created = await job.call("terminal/create", {
      command: "sh",
      args: ["-c", command],
      cwd: job.context.cwd,
      outputByteLimit: LIMITS.cardLength,
    });
    const terminalId = fieldOf(created, "terminalId");
    if (typeof terminalId !== "string") throw new ToolFailure("The editor named no terminal");
    try {
      await shown(terminalId);
      return await finish(job, terminalId);
    } finally {
      await giveBack(job, terminalId);
    }
  } catch (error) {
    throw job.signal.aborted ? error : failureOf(error, { verb: "run", what: "it in the editor" });
  }
}

async function finish(job: Job, terminalId: string): Promise<TerminalEnd> {
  const exit = await job.call("terminal/wait_for_exit", { terminalId });
  const shown = await job.call("terminal/output", { terminalId });
  const exitCode = fieldOf(exit, "exitCode");
  const signal = fieldOf(exit, "signal");
  const output = fieldOf(shown, "output");
  return {
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof signal === "string" ? { signal } : {}),
    terminalId,
    output: typeof output === "string" ? output : "",
    truncated: fieldOf(shown, "truncated") === true,
  };
}

/** Without the signal, since it has to go out after a stop too. */
async function giveBack(job: Job, terminalId: string): Promise<void> {
  const kill = job.signal.aborted ? [job.sink.call("terminal/kill", { terminalId })] : [];
  const calls = [...kill, job.sink.call("terminal/release", { terminalId })];
  await atMost(FAREWELL_MS, Promise.allSettled(calls));
}
