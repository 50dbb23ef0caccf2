import type { JsonObject } from "../model/json.ts";

/** Why a Host refused or failed. */
export type HostErrorCode =
  | "not_found" // no such Session, Turn, Artifact, upload, Interaction or Grant
  | "busy" // the Session is held by another process, or its foreground slot is taken
  | "conflict" // the same identity was used before with other content
  | "revision_conflict" // the configuration moved on; data.revision tells where to
  | "already_resolved" // the Interaction or call has an answer already
  | "invalid" // the request itself is wrong; the message says how
  | "unauthorized" // this connection may not
  | "capacity" // a limit of `limits.ts` was reached
  | "unavailable" // the Host or what it needs cannot be reached now
  | "persistence_failed" // the store could not keep it (disk full, read-only, damaged)
  | "outcome_unknown" // whether it happened can no longer be found out
  | "internal"; // a fault in the Host

/**
 * What is known about a request that failed. `answered`: the Host refused, act on the code. `not_sent`: it never left,
 * it may be sent again. `unknown`: it was sent and no answer came; a **once** operation must not be sent again.
 */
export type Dispatch = "answered" | "not_sent" | "unknown";

/**
 * The one type of failure of a Host. The message is a sentence for people: it names what failed and what to do and
 * holds no secret.
 */
export class HostError extends Error {
  /** Why. */
  readonly code: HostErrorCode;
  /** Whether the request reached the Host. */
  readonly dispatch: Dispatch;
  /** Details for programs; the keys depend on the code. */
  readonly data: JsonObject;

  /** Makes a failure; `answered` unless said otherwise. */
  constructor(
    code: HostErrorCode,
    message: string,
    options: { dispatch?: Dispatch; data?: JsonObject; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HostError";
    this.code = code;
    this.dispatch = options.dispatch ?? "answered";
    this.data = options.data ?? {};
  }
}

/**
 * The reply to a **once** operation. A caller has to look at `kind`, so that an unknown outcome cannot be taken for a
 * refusal: after `unknown` ask by identity, never send again.
 */
export type Reply<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: Dispatch; readonly error: HostError };

/** Runs a once operation and turns its {@linkcode HostError} into a {@linkcode Reply}; other errors count as unknown. */
export async function replyOf<T>(operation: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { kind: "done", value: await operation() };
  } catch (cause) {
    const error = cause instanceof HostError ? cause : new HostError(
      "internal",
      "The Host failed without saying why",
      { dispatch: "unknown", cause },
    );
    return { kind: error.dispatch, error };
  }
}
