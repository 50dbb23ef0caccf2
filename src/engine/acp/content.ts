import { type Block, type BlockBase, boundedBlock, type LinkBlock } from "../../model/block.ts";
import { isRecord, metaOf, numberOf, recordOf, recordsOf, textOf } from "./shape.ts";
import type { Diff, ToolContent } from "../../model/tool.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";

/** What a card shows, in the words of the model. */
export interface Shown {
  readonly content: readonly ToolContent[];
  readonly diffs: readonly Diff[];
}

/** Bytes of one block inside of a tool that are kept; images have their own limit where they are shown. */
const BYTES = LIMITS.imageBytes;

/** A content block in the words of the model; undefined for one that says nothing or that version 1 of the protocol does not have. */
export function blockOf(value: Json | undefined): Block | undefined {
  const block = recordOf(value);
  const { type, text, uri, mimeType, data, annotations, _meta } = block;
  const meta = metaOf(_meta);
  const base: BlockBase = {
    ...(isRecord(annotations) && { annotations }),
    ...(meta !== undefined && { meta }),
  };
  switch (type) {
    case "text":
      return typeof text === "string" ? { ...base, kind: "text", text } : undefined;
    case "image":
    case "audio":
      if (typeof data !== "string" || typeof mimeType !== "string") return undefined;
      return { ...base, kind: type, mimeType, data, ...(typeof uri === "string" && { uri }) };
    case "resource_link":
      return typeof uri === "string" ? { ...base, ...linkOf(uri, block) } : undefined;
    case "resource":
      return resourceOf(recordOf(block.resource), base);
    default:
      return undefined;
  }
}

function linkOf(uri: string, { name, mimeType, title, description, size }: JsonObject): LinkBlock {
  const bytes = numberOf(size);
  return {
    kind: "link",
    uri,
    name: textOf(name) ?? uri,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(bytes !== undefined && { size: bytes }),
  };
}

function resourceOf({ uri, mimeType, text, blob, _meta }: JsonObject, base: BlockBase): Block | undefined {
  if (typeof uri !== "string" || (typeof text !== "string" && typeof blob !== "string")) return undefined;
  const contentMeta = metaOf(_meta);
  return {
    ...base,
    kind: "resource",
    uri,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(typeof text === "string" ? { text } : { blob: String(blob) }),
    ...(contentMeta !== undefined && { contentMeta }),
  };
}

/** The content of a tool call. */
export function shownOf(items: Json | undefined): Shown {
  const content: ToolContent[] = [];
  const diffs: Diff[] = [];
  for (const item of recordsOf(items)) {
    if (item.type === "content") {
      const block = blockOf(item.content);
      if (block === undefined || (block.kind === "text" && block.text === "")) continue;
      content.push(block.kind === "image" ? block : boundedBlock(block, BYTES));
    } else if (item.type === "terminal" && typeof item.terminalId === "string") {
      content.push({ kind: "terminal", terminalId: item.terminalId });
    } else if (item.type === "diff" && typeof item.path === "string" && typeof item.newText === "string") {
      diffs.push({ path: item.path, oldText: textOf(item.oldText) ?? null, newText: item.newText });
    }
  }
  return { content, diffs };
}

/** The exit code that a raw result tells, where it does in one of the usual ways. */
export function exitCodeOf(raw: Json | undefined): number | undefined {
  const { exitCode, exit_code } = recordOf(raw);
  const code = numberOf(exitCode) ?? numberOf(exit_code);
  return Number.isInteger(code) ? code : undefined;
}
