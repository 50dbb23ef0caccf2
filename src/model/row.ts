import type { Block } from "./block.ts";
import type { Channel } from "./message.ts";
import type { Meta } from "./json.ts";
import type { Run, RunEnd } from "./run.ts";
import type { Compaction } from "./compaction.ts";
import type { PlanEntry } from "./plan.ts";
import type { ToolRecord } from "./tool.ts";
import type { TurnInput } from "./prompt.ts";

/** What a row records. */
export type RowKind =
  | "user"
  | "text"
  | "thinking"
  | "tool"
  | "plan"
  | "notice"
  | "end"
  | "content"
  | "compaction";

/**
 * One entry of a Session's transcript.
 *
 * A row takes its sequence when it begins (a message at its first checkpoint, a tool at its start) and keeps it; until
 * `complete` its body grows. Rows up to the watermark never change again.
 */
export interface RowHead {
  /** Rises by at least one from row to row of the Session; starts at 1. */
  readonly seq: number;
  /** The Run that made it. */
  readonly run: Run;
  /** What it holds. */
  readonly kind: RowKind;
  /**
   * messageId of text and thinking, toolCallId of a tool, else unique in the Session. That of a `content` is a part's like a text's: one
   * without a block stands before the text of the same id.
   */
  readonly id: string;
  /** Whether nothing more will be added. */
  readonly complete: boolean;
  /** Whether it may not be shown raw. */
  readonly sensitive: boolean;
  /** Of the whole body in UTF-16 units. */
  readonly length: number;
  /** Lower-case hex SHA-256 of the whole body in UTF-8. */
  readonly sha256: string;
  /** Milliseconds since the epoch when the row began. */
  readonly at: number;
}

/**
 * A row as a reader gets it. The body is a string: the text itself for `text` and `thinking`, else JSON that
 * {@linkcode decodeBody} reads. A long body comes as several fragments with rising offset, each repeating the head; the
 * body is left out where the reader holds it already.
 */
export interface Row extends RowHead {
  /** A piece of its text, and where the piece begins in UTF-16 units. */
  readonly body?: { readonly offset: number; readonly text: string };
}

/** The decoded body of a row, by kind. */
export type RowBody =
  | { readonly kind: "user"; readonly input: TurnInput }
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | { readonly kind: "tool"; readonly tool: ToolRecord }
  | { readonly kind: "plan"; readonly entries: readonly PlanEntry[]; readonly meta?: Meta }
  /** A block inside of a message, or what the text of this id has as metadata. */
  | { readonly kind: "content"; readonly channel: Channel; readonly block?: Block; readonly meta?: Meta }
  /** How a compaction of the context ended. */
  | { readonly kind: "compaction" } & Compaction
  | {
    readonly kind: "notice";
    readonly severity: "info" | "warning" | "error";
    readonly title: string;
    readonly text?: string;
    readonly meta?: Meta;
  }
  | { readonly kind: "end"; readonly end: RunEnd };

/** Writes a row's body as the string that its digest and length speak of. */
export function encodeBody(body: RowBody): string {
  if (body.kind === "text" || body.kind === "thinking") return body.text;
  const { kind: _, ...rest } = body;
  return JSON.stringify(rest);
}

/** Reads a whole row body back. Throws `SyntaxError` where a stored body is damaged. */
export function decodeBody(kind: RowKind, text: string): RowBody {
  if (kind === "text" || kind === "thinking") return { kind, text };
  return { kind, ...JSON.parse(text) } as RowBody;
}
