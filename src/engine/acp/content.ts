import { cut, isRecord, numberOf, recordOf, recordsOf, textOf } from "./shape.ts";
import type { Diff, ToolContent } from "../../model/tool.ts";
import type { Json, JsonObject } from "../../model/json.ts";

/** What a card shows, in the words of the model. */
export interface Shown {
  readonly content: readonly ToolContent[];
  readonly diffs: readonly Diff[];
}

/** UTF-16 units of a name that stands for something that cannot be shown. */
const NAME = 200;

/**
 * A content block of a message as text: messages of the Host are text, so that what is none is named in its place. Undefined for
 * nothing to say.
 */
export function messageTextOf(block: Json | undefined): string | undefined {
  const { type, text, uri, name, title, mimeType, data, resource } = recordOf(block);
  switch (type) {
    case "text":
      return textOf(text);
    case "resource_link":
      return typeof uri === "string" ? `[${label(title, name, uri)}](${uri})` : undefined;
    case "image":
    case "audio":
      return typeof uri === "string" ? `[${type}](${uri})` : `[${type}, ${label(mimeType)}, ${sizeOf(data)}]`;
    case "resource": {
      const { uri, text, blob } = recordOf(resource);
      if (typeof text === "string") return `[${label(uri)}]\n${text}`;
      return `[${label(uri)}, ${sizeOf(blob)}]`;
    }
    default:
      return undefined;
  }
}

/** The content of a tool call. What has no place in the model is named in a text. */
export function shownOf(items: Json | undefined): Shown {
  const content: ToolContent[] = [];
  const diffs: Diff[] = [];
  for (const item of recordsOf(items)) {
    if (item.type === "content") {
      const part = partOf(recordOf(item.content));
      if (part !== undefined) content.push(part);
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

function partOf(block: JsonObject): ToolContent | undefined {
  const { type, uri, data, mimeType, name, resource } = block;
  switch (type) {
    case "image":
      if (typeof data !== "string" || typeof mimeType !== "string") return undefined;
      return { kind: "image", data, mimeType, ...(typeof uri === "string" && { uri }) };
    case "resource_link":
      if (typeof uri !== "string") return undefined;
      return { kind: "link", uri, name: label(name, uri), ...(typeof mimeType === "string" && { mimeType }) };
    case "resource": {
      const { uri, text, mimeType } = recordOf(resource);
      if (typeof text === "string") return { kind: "text", text };
      if (typeof uri !== "string") return undefined;
      return { kind: "link", uri, name: label(uri), ...(typeof mimeType === "string" && { mimeType }) };
    }
    default: {
      const text = messageTextOf(block);
      return text === undefined || text === "" ? undefined : { kind: "text", text };
    }
  }
}

function label(...names: readonly (Json | undefined)[]): string {
  return cut(names.find((name) => typeof name === "string" && name !== "")?.toString() ?? "unnamed", NAME);
}

function sizeOf(base64: Json | undefined): string {
  return typeof base64 === "string" ? `${Math.floor(base64.length * 3 / 4)} bytes` : "no bytes";
}

/** Raw input as the model keeps it: an object. */
export function rawInputOf(raw: Json | undefined): JsonObject | undefined {
  if (raw === undefined || raw === null) return undefined;
  return isRecord(raw) ? raw : { input: raw };
}
