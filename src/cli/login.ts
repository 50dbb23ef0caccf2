import type { AgentCommand } from "../engine/acp/mod.ts";
import { openRoster } from "./roster.ts";
import type { LoginRequest, ServeOptions } from "./flags.ts";
import { silentLog } from "../model/log.ts";
import { stderrSink } from "./log.ts";
import { thisMachine } from "./state.ts";

/** Signals that a terminal sends to all that run in it: the agent decides what they mean. */
const SHARED = ["SIGINT", "SIGQUIT"] as const;
/** Signals that are for one process: they are handed on. */
const HANDED_ON = ["SIGTERM", "SIGHUP"] as const;
/** Exit code of a command that cannot be run, and of a process that a signal ended. */
const NOT_RUN = 126;
const BY_SIGNAL = 128;

/**
 * Runs an agent itself in this terminal, with further arguments, for somebody who logs in: its streams are this program's own. Resolves
 * with the agent's exit code.
 */
export async function login(
  options: ServeOptions,
  { agent, variables, args }: LoginRequest,
): Promise<number> {
  const roster = await openRoster({ options, machine: thisMachine(), log: silentLog });
  if (roster.kind === "refused") return await refuse(roster.why);
  const command = roster.commands[agent];
  if (command === undefined) return await refuse(`There is no agent "${agent}" to log in to`);
  const { program, env = {} } = command;
  // What the editor set for this counts more than what the agent is configured with.
  const own = Object.entries(env).filter(([name]) => !variables.includes(name));
  try {
    return await run({ ...command, args: [...command.args, ...args], env: Object.fromEntries(own) });
  } catch (error) {
    return await refuse(`The agent "${program}" cannot be started: ${reasonOf(error, program)}`);
  }
}

async function run({ program, args, env, cwd }: AgentCommand): Promise<number> {
  // The shell makes room for the agent, so that one permission is enough for all agents.
  const shell = Deno.build.os !== "windows" && !mayRun(program) && mayRun("sh");
  const child = new Deno.Command(shell ? "sh" : program, {
    args: shell ? ["-c", 'exec "$@"', "sh", program, ...args] : [...args],
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  const listeners = [
    ...SHARED.map((signal) => [signal, () => {}] as const),
    ...HANDED_ON.map((signal) => [signal, () => child.kill(signal)] as const),
  ].filter(([signal, listener]) => {
    try {
      Deno.addSignalListener(signal, listener);
      return true;
    } catch {
      // Windows knows only some of them.
      return false;
    }
  });
  const { code, signal } = await child.status;
  for (const [name, listener] of listeners) Deno.removeSignalListener(name, listener);
  return signal === null ? code : Math.max(code, BY_SIGNAL);
}

function mayRun(command: string): boolean {
  return Deno.permissions.querySync({ name: "run", command }).state === "granted";
}

function reasonOf(error: unknown, program: string): string {
  if (error instanceof Deno.errors.NotCapable) return `start Gangway with --allow-run=${program}`;
  if (error instanceof Deno.errors.NotFound) return "there is no such program, or no such working directory";
  return error instanceof Error ? error.message : String(error);
}

async function refuse(why: string): Promise<number> {
  const errors = stderrSink();
  errors.line(`gangway: ${why}`);
  await errors.close();
  return NOT_RUN;
}
