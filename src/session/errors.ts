import type { JsonObject } from "../model/json.ts";

/** Why a request about a Session failed; it crosses the wire in `data.code`. */
export type SessionErrorCode =
  | "unknown_session" // -32002, data.sessionId: not owned by this connection, or it does not exist
  | "invalid_params" // -32602: a path, a link, an option or a value is wrong; the message names it
  | "authentication_required" // -32000
  | "session_busy" // another process holds the Session; the message names it
  | "queue_full" // more prompts wait than limits.waitingPrompts
  | "run_busy" // a Run that cannot be stopped keeps the Session's foreground
  | "turn_failed" // data.failure: the class
  | "turn_interrupted" // the Host or the machine went away in the middle of the Turn
  | "outcome_unknown" // whether the Turn, the Session or the change was made cannot be found out
  | "unsupported_stream_revision" // the agent revised text that was shown
  | "tool_presentation_capacity" // more tools or tool output than one prompt shows
  | "missing_result" // an announced tool result or message has no durable row
  | "client_unsupported" // the editor lacks a method that this Turn needs, or answered it wrongly
  | "host_unavailable" // the Host cannot be reached
  | "storage_failed" // the Host could not keep it
  | "internal";

/** The one type of failure of `session/`. The message is a sentence for people without secrets. */
export class SessionError extends Error {
  /** Why. */
  readonly code: SessionErrorCode;
  /** Details for programs, beside `code`. */
  readonly data: JsonObject;
  /** Keeps the reason, the sentence and the details. */
  constructor(code: SessionErrorCode, message: string, data?: JsonObject, options?: ErrorOptions) {
    super(message, options);
    this.name = "SessionError";
    this.code = code;
    this.data = data ?? {};
  }
}
