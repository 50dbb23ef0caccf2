import { decodeBody, type RowHead } from "../../model/row.ts";
import type { PromptPart } from "../../model/prompt.ts";
import type { Remembered } from "../../engine/remembered.ts";
import type { SessionStore } from "../store/contract.ts";

/** Sequences that are looked at in one go, and at most in all. */
const WINDOW = 512;
const MOST_ROWS = 8192;
/** UTF-16 units of a row that is read for its title or its words. */
const BODY_LENGTH = 1024 * 1024;
/** Bytes that an entry without a text counts. */
const SMALL = 64;

/** Where a Session's past is read from. */
export interface HistoryParts {
  readonly store: Pick<SessionStore, "heads" | "body">;
  /** The highest sequence that was given out. */
  readonly last: () => number;
  /** Whether a Turn has not ended. */
  readonly live: (turnId: string) => boolean;
}

/**
 * What was said and done in Turns that have ended, newest last: the newest whose texts have at most `maxBytes` of UTF-8 together. A message
 * of more than a quarter of that is told by its length. Thinking, sensitive rows, and what tools took and gave stay out.
 */
export async function historyOf(
  { store, last, live }: HistoryParts,
  maxBytes: number,
): Promise<readonly Remembered[]> {
  const found: Remembered[] = [];
  let left = maxBytes;
  const end = last();
  for (let through = end; through > Math.max(0, end - MOST_ROWS); through -= WINDOW) {
    const heads = await store.heads({ after: Math.max(0, through - WINDOW), through, limit: WINDOW });
    for (const head of heads.toReversed()) {
      if (head.sensitive || !head.complete || live(head.run.turnId)) continue;
      const entry = await entryOf(store, head, maxBytes / 4);
      if (entry === undefined) continue;
      left -= bytesOf(entry);
      if (left < 0) return found.reverse();
      found.push(entry);
    }
  }
  return found.reverse();
}

async function entryOf(
  store: HistoryParts["store"],
  head: RowHead,
  largest: number,
): Promise<Remembered | undefined> {
  const { kind, seq, length } = head;
  if (kind !== "user" && kind !== "text" && kind !== "tool") return undefined;
  if (kind === "text" && length > largest) return { kind, length };
  if (length > BODY_LENGTH) return kind === "user" ? { kind, length } : undefined;
  const body = decodeBody(kind, await store.body(seq, 0, length));
  switch (body.kind) {
    case "text":
      return saying("text", body.text, largest);
    case "user":
      return saying("user", body.input.parts.map(wordsOf).join("\n"), largest);
    case "tool": {
      const { input, result, toolCallId } = body.tool;
      return { kind: "tool", title: input.title || toolCallId, status: result?.status ?? "interrupted" };
    }
    default:
      return undefined;
  }
}

function saying(kind: "user" | "text", text: string, largest: number): Remembered {
  return text.length > largest || encoded(text) > largest ? { kind, length: text.length } : { kind, text };
}

/** The words of a part; a file by its name. */
function wordsOf(part: PromptPart): string {
  if (part.kind === "text") return part.text;
  return `[${part.kind === "link" ? part.name : part.artifact.name}]`;
}

function bytesOf(entry: Remembered): number {
  if (entry.kind === "tool") return SMALL + encoded(entry.title);
  return "text" in entry ? encoded(entry.text) : SMALL;
}

function encoded(text: string): number {
  return new TextEncoder().encode(text).length;
}
