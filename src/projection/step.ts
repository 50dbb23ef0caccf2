/**
 * The `update` value of a `session/update`, encoded as JSON. Its line, envelope included, stays under
 * `LIMITS.outputLineBytes`; an update that carries an image is the one exception.
 */
export type EncodedUpdate = string;

/** What of a Client's abilities decides how things are shown. */
export interface Shows {
  /** Terminals inside of cards. */
  readonly terminal: boolean;
  /** Options that are on or off. */
  readonly booleanOptions: boolean;
  /** Notices. */
  readonly notices: boolean;
  /** Progress of compaction. */
  readonly compaction: boolean;
}

/** Why a prompt cannot go on being shown truthfully. */
export type FaultCode = "unsupported_stream_revision" | "tool_presentation_capacity" | "missing_result";

/** The reason that ends a prompt, with a sentence for people. Once raised it stays. */
export interface Fault {
  /** Which fault. */
  readonly code: FaultCode;
  /** A sentence for people. */
  readonly message: string;
}

/** What one event means for the Client. */
export interface Step {
  /** To send, in order. */
  readonly updates: readonly EncodedUpdate[];
  /** The fault, once there is one. */
  readonly fault?: Fault;
  /** Text arrived beyond what was shown: the transcript has to be read again before it can be shown. */
  readonly gap: boolean;
}

/** A step that shows nothing. */
export const NOTHING: Step = Object.freeze({ updates: Object.freeze([]), gap: false });

/** Wraps updates; the empty list is shared. */
export function stepOf(updates: readonly EncodedUpdate[]): Step {
  return updates.length === 0 ? NOTHING : { updates, gap: false };
}
