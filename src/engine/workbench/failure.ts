/** Why a tool did not do its work; the message is the sentence that its card shows. */
export class ToolFailure extends Error {
  override readonly name: string = "ToolFailure";
}

/** A person said no. */
export class Denial extends ToolFailure {
  override readonly name: string = "Denial";
}

/** What was tried when the runtime or the system refused. */
export interface Attempt {
  /** As in "Cannot read". */
  readonly verb: "read" | "write" | "run";
  /** The path as the person wrote it, or the program. */
  readonly what: string;
}

/** Makes a sentence of an error; one about Deno's permissions names the flag that would allow it. */
export function failureOf(error: unknown, { verb, what }: Attempt): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const reason = error instanceof Deno.errors.NotCapable
    ? `Gangway has no permission to ${verb} it; start Gangway with ${flagOf(error)}`
    : error instanceof Deno.errors.NotFound
    ? "it does not exist"
    : error instanceof Deno.errors.PermissionDenied
    ? "the system denies it"
    : error instanceof Error
    // Behind the system's own words stands the real path, which may be one that nobody gave.
    ? error.message.replace(/ \(os error \d+\).*$/s, "")
    : String(error);
  return new ToolFailure(`Cannot ${verb} ${what}: ${reason}`, { cause: error });
}

/** Writing needs reading too, so the runtime's own word on what is missing counts. */
function flagOf(error: Error): string {
  const permission = /--allow-(\w+)/.exec(error.message)?.[1] ?? "all";
  if (permission === "run") return "--allow-run=sh";
  return permission === "all" ? "--allow-all" : `--allow-${permission}=FOLDER for the folder that it is in`;
}
