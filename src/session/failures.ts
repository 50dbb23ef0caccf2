import { HostError } from "../host/errors.ts";
import type { Run, RunEnd } from "../model/run.ts";
import { DeadlineError } from "./deadline.ts";
import { SessionError } from "./errors.ts";

/** What a Host's failure means for a request about a Session. */
export function sessionErrorOf(error: HostError, sessionId: string): SessionError;
/** Of anything else that was thrown: errors of ours as they are. */
export function sessionErrorOf(error: unknown, sessionId: string): Error;
export function sessionErrorOf(error: unknown, sessionId: string): Error {
  if (error instanceof DeadlineError) {
    return new SessionError("host_unavailable", `The Host does not answer. ${error.message}`, { sessionId }, {
      cause: error,
    });
  }
  if (!(error instanceof HostError)) return error instanceof Error ? error : new Error(String(error));
  const data = { sessionId, ...error.data, host: error.code, dispatch: error.dispatch };
  const make = (code: SessionError["code"]) => new SessionError(code, error.message, data, { cause: error });
  switch (error.code) {
    case "not_found":
      return make("unknown_session");
    case "busy":
      return make("session_busy");
    case "invalid":
    case "conflict":
    case "capacity":
      return make("invalid_params");
    case "unauthorized":
      return make("authentication_required");
    case "outcome_unknown":
      return make("outcome_unknown");
    case "persistence_failed":
      return make("storage_failed");
    case "unavailable":
      return make(error.dispatch === "unknown" ? "outcome_unknown" : "host_unavailable");
    case "revision_conflict":
    case "already_resolved":
    case "internal":
      return make(error.dispatch === "unknown" ? "outcome_unknown" : "internal");
  }
}

/** The error that answers a prompt whose Turn failed or was interrupted. */
export function endError(end: RunEnd & { how: "failed" | "interrupted" }): SessionError {
  if (end.how === "interrupted") {
    return new SessionError(
      "turn_interrupted",
      "The Turn was interrupted before it ended; what it did until then is kept. Send the prompt again to go on",
    );
  }
  const code = end.failure.class === "authentication" ? "authentication_required" : "turn_failed";
  return new SessionError(code, end.failure.message, { ...end.failure.data, failure: end.failure.class });
}

/** The error of a prompt that waited in vain for the foreground slot. */
export function busyError(run: Run): SessionError {
  return new SessionError(
    "run_busy",
    `Another Turn of this Session is still running (${run.turnId}); cancel it or wait for its end`,
    { turnId: run.turnId, runId: run.runId },
  );
}
