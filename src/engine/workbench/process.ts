import { type Command, type Exit, runCommand } from "../command.ts";
import { failureOf, ToolFailure } from "./failure.ts";

export type { Exit } from "../command.ts";

/** A command of the shell. */
export interface ShellCommand extends Pick<Command, "cwd" | "signal" | "output"> {
  readonly command: string;
}

/**
 * Runs a command through `sh` and waits for it. Rejects with a {@linkcode ToolFailure} where it cannot be started, with the signal's reason
 * after an abort, with what `output` throws.
 */
export async function runShell({ command, ...how }: ShellCommand): Promise<Exit> {
  try {
    return await runCommand({ ...how, argv: ["sh", "-c", command] });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new ToolFailure(`Cannot run sh in ${how.cwd}: one of the two does not exist`);
    }
    if (error instanceof Deno.errors.NotCapable) throw failureOf(error, { verb: "run", what: "sh" });
    throw error;
  }
}
