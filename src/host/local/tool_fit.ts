import type { ToolInput, ToolKind, ToolResult } from "../../model/tool.ts";

const KINDS: ReadonlySet<string> = new Set<ToolKind>([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
]);

/** UTF-16 units of the JSON of a value; Infinity for one that JSON cannot hold. */
export function encodedLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Infinity;
  }
}

/** A tool's input as the Host keeps it: what an Engine left out or got wrong is replaced, what JSON cannot hold left out. */
export function fitInput(input: ToolInput | undefined, toolCallId: string): ToolInput {
  if (input === undefined || input === null) {
    return { complete: false, sensitive: false, title: toolCallId, kind: "other", locations: [] };
  }
  const fit: ToolInput = {
    ...input,
    complete: input.complete === true,
    sensitive: input.sensitive === true,
    title: typeof input.title === "string" ? input.title : toolCallId,
    kind: KINDS.has(input.kind) ? input.kind : "other",
    locations: Array.isArray(input.locations) ? input.locations : [],
  };
  if (encodedLength(fit) < Infinity) return fit;
  return {
    complete: fit.complete,
    sensitive: fit.sensitive,
    title: fit.title,
    kind: fit.kind,
    locations: [],
  };
}

/** A tool's result as the Host keeps it. */
export function fitResult(result: ToolResult): ToolResult {
  const fit: ToolResult = {
    ...result,
    status: result.status === "completed" || result.status === "cancelled" ? result.status : "failed",
    content: Array.isArray(result.content) ? result.content : [],
    diffs: Array.isArray(result.diffs) ? result.diffs : [],
  };
  return encodedLength(fit) < Infinity ? fit : { status: fit.status, content: [], diffs: [] };
}
