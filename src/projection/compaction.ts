import { blockJson } from "./block.ts";
import { fits, jsonText, metaMember, oneLine, prefixEnd } from "./encode.ts";
import type { Block } from "../model/block.ts";
import type { Compaction } from "../model/compaction.ts";
import type { EncodedUpdate } from "./step.ts";
import { LIMITS } from "../limits.ts";
import type { Redact } from "../model/redact.ts";

/** Encoded bytes of a summary. Past it text is cut, and what follows is left out. */
const SUMMARY_BYTES = 16 * 1024;

/** A compaction of the context for a Client that shows compactions; with `append` only what is added to its summary. */
export function compactionUpdates(
  compaction: Compaction & { readonly append?: Block },
  redact: Redact,
): readonly EncodedUpdate[] {
  const { compactionId, status, summary, error, meta, append } = compaction;
  const id = JSON.stringify(compactionId);
  if (append !== undefined) {
    const [content] = bounded([append], redact);
    if (content === undefined) return [];
    return [
      `{"sessionUpdate":"compaction_summary_chunk","compactionId":${id},"content":${content}${
        metaMember(meta)
      }}`,
    ];
  }
  const body = summary === undefined ? "" : `,"summary":[${bounded(summary, redact).join(",")}]`;
  const reason = error === undefined
    ? ""
    : `,"error":${jsonText(oneLine(redact(error), LIMITS.commandLength))}`;
  return [
    `{"sessionUpdate":"compaction_update","compactionId":${id},"status":"${status}"${body}${reason}${
      metaMember(meta)
    }}`,
  ];
}

function bounded(blocks: readonly Block[], redact: Redact): string[] {
  const shown: string[] = [];
  let left = SUMMARY_BYTES;
  for (const block of blocks) {
    if (left <= 0) break;
    const json = blockJson(
      block.kind === "text" ? { ...block, text: within(redact(block.text), left) } : block,
    );
    if (!fits(json, left + 256)) continue;
    left -= json.length;
    shown.push(json);
  }
  return shown;
}

function within(text: string, bytes: number): string {
  const fine = text.slice(0, bytes).toWellFormed();
  const end = prefixEnd(fine, 0, bytes);
  return end === fine.length && text.length <= bytes ? fine : `${fine.slice(0, end)}…`;
}
