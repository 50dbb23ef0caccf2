import type { RunEnd } from "./run.ts";
import type { Block } from "./block.ts";
import type { Json, Meta } from "./json.ts";

/** What a tool does, in ACP's words. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

/** A place that a tool touches. `path` is absolute, `line` counts from 1. */
export interface ToolLocation {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line?: number;
}

/** A whole-file change. `oldText` is null for a new file; both texts keep their line ends. */
export interface Diff {
  /** Absolute. */
  readonly path: string;
  /** Null for a file that did not exist. */
  readonly oldText: string | null;
  /** What it holds afterwards. */
  readonly newText: string;
}

/** One piece of a tool's result. `terminal` names a terminal of the presenting Client. */
export type ToolContent = Block | { readonly kind: "terminal"; readonly terminalId: string };

/**
 * What a tool was asked to do, as far as known. A later input of the same tool replaces the earlier one.
 * While `complete` is false it is a preview: the model is still writing it.
 */
export interface ToolInput {
  /** Whether it is the whole input; else a preview. */
  readonly complete: boolean;
  /** Raw input of a sensitive tool is never shown, kept out of cards, dialogs and logs. */
  readonly sensitive: boolean;
  /** What the tool is about to do, for people. */
  readonly title: string;
  /** What sort of tool it is. */
  readonly kind: ToolKind;
  /** How far it is, where whoever does the work says so; else that follows from what it does. */
  readonly status?: "pending" | "in_progress";
  /** The files that it works on. */
  readonly locations: readonly ToolLocation[];
  /** The tool's own name for it, e.g. `run_command`. */
  readonly name?: string;
  /** The input as the tool got it. */
  readonly raw?: Json;
  /** A terminal of the presenting Client in which the tool's output appears while it works. */
  readonly terminalId?: string;
  /** What it shows until there is a result, such as the change that it proposes. */
  readonly shown?: Pick<ToolResult, "content" | "diffs">;
  /** Passed through unread. */
  readonly meta?: Meta;
}

/** How a tool ended. ACP v1 has no `cancelled`; the projection shows it as failed with an honest text. */
export type ToolEnd = "completed" | "failed" | "cancelled";

/** The authoritative end of a tool. */
export interface ToolResult {
  /** How it ended. */
  readonly status: ToolEnd;
  /** What it came to. */
  readonly content: readonly ToolContent[];
  /** What it changed. */
  readonly diffs: readonly Diff[];
  /** Of the program that it ran. */
  readonly exitCode?: number;
  /** The raw result where it is small, complete and not sensitive. */
  readonly raw?: Json;
}

/** The durable record of a tool: the body of a `tool` row. */
export interface ToolRecord {
  /** Its id, unique in the Session. */
  readonly toolCallId: string;
  /** The tool that called it. */
  readonly parent?: string;
  /** What it was called with. */
  readonly input: ToolInput;
  /** Absent while the tool has no authoritative end. */
  readonly result?: ToolResult;
  /** Where the Run ended before the tool did: how it ended. */
  readonly cutShort?: RunEnd["how"];
  /** Output streamed before or without a result, bounded, with the number of characters that were dropped. */
  readonly output?: { readonly text: string; readonly dropped: number };
}
