/**
 * One execution of a Turn. `turnId` is chosen by whoever starts the Turn, `runId` is issued by the Host; together
 * they name exactly one Run for ever.
 */
export interface Run {
  /** The Turn. */
  readonly turnId: string;
  /** This execution of it. */
  readonly runId: string;
}

/** Whether two keys name the same Run. */
export function sameRun(a: Run, b: Run): boolean {
  return a.turnId === b.turnId && a.runId === b.runId;
}

/** Who started a Run: a connection of a Client, or an Engine on behalf of a parent Run (a background Run). */
export type Origin =
  | { readonly kind: "connection"; readonly connectionId: string }
  | { readonly kind: "engine"; readonly parent: Run };

/** Why a completed Turn ended; the words are ACP's own stop reasons without `cancelled`. */
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal";

/** What kind of failure ended a Turn. It crosses the wire in `data.failure`. */
export type FailureClass =
  | "engine" // the Engine reported or threw an error
  | "engine_gone" // the Engine's process ended or stopped answering
  | "unsupported" // the Turn needs something that this Client or Engine lacks
  | "capacity" // a limit was reached
  | "storage" // the Host could not keep what happened
  | "authentication"; // the Engine wants a login

/** A Turn's failure: a class for programs and a sentence for people, without secrets. */
export interface Failure {
  /** What kind of failure it is. */
  readonly class: FailureClass;
  /** A sentence for people. */
  readonly message: string;
  /** Details for programs. */
  readonly data?: import("./json.ts").JsonObject;
}

/** How a Run ended. */
export type RunEnd =
  | { readonly how: "completed"; readonly stopReason: StopReason; readonly meta?: import("./json.ts").Meta }
  /** Stopped on request; `by` is the connection that asked, or `host`. */
  | { readonly how: "stopped"; readonly by: string }
  | { readonly how: "failed"; readonly failure: Failure }
  /** The Host or the machine went away in the middle; found at the next opening. */
  | { readonly how: "interrupted" };

/** A Run that has not ended, as a snapshot or a `run` frame shows it. */
export interface LiveRun {
  /** Which one. */
  readonly run: Run;
  /** How far it is. */
  readonly phase: "admitted" | "running" | "waiting";
  /** The one foreground slot of the Session, or a background Run beside it. */
  readonly foreground: boolean;
  /** Who started it. */
  readonly origin: Origin;
  /** The connection that shows it; absent after that connection went away. */
  readonly presenter?: string;
  /** The transcript sequence below which no row belongs to this Run. */
  readonly cut: number;
}
