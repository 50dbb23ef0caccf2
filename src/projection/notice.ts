import { jsonText, metaMember, oneLine, prefixEnd } from "./encode.ts";
import type { EncodedUpdate } from "./step.ts";
import { LIMITS } from "../limits.ts";
import type { Meta } from "../model/json.ts";
import type { Redact } from "../model/redact.ts";

/** What is said to a person beside the conversation. */
export interface NoticeText {
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly text?: string;
}

/** Bytes of a notice's or a summary's text; past it the text ends with an ellipsis. */
const TEXT_BYTES = 16 * 1024;

/** A notice for a Client that shows notices. */
export function noticeUpdate(notice: NoticeText, redact: Redact, meta?: Meta): EncodedUpdate {
  const description = notice.text === undefined ? "" : `,"description":${bounded(notice.text, redact)}`;
  return `{"sessionUpdate":"notice","severity":"${notice.severity}","title":${
    title(notice, redact)
  }${description}${metaMember(meta)}}`;
}

/**
 * A notice for a Client that has none: a card of its own. It is no message of the agent, which would make up words of the
 * conversation, and no thought of it; a card has a title, a colour and a place in the order, and `_meta` says what it is.
 */
export function noticeCard(id: string, notice: NoticeText, redact: Redact, meta?: Meta): EncodedUpdate {
  const content = notice.text === undefined
    ? ""
    : `,"content":[{"type":"content","content":{"type":"text","text":${bounded(notice.text, redact)}}}]`;
  return `{"sessionUpdate":"tool_call","toolCallId":${JSON.stringify(id)},"title":${
    title(notice, redact)
  },"kind":"other","status":"${notice.severity === "error" ? "failed" : "completed"}"${content}${
    metaMember({ ...meta, gangway: { notice: notice.severity } })
  }}`;
}

function title(notice: NoticeText, redact: Redact): string {
  const line = oneLine(redact(notice.title), LIMITS.titleLength);
  return jsonText(line === "" ? "Notice" : line);
}

function bounded(text: string, redact: Redact): string {
  const fine = redact(text.slice(0, LIMITS.cardLength)).toWellFormed();
  const end = prefixEnd(fine, 0, TEXT_BYTES);
  return jsonText(end === fine.length && text.length <= LIMITS.cardLength ? fine : `${fine.slice(0, end)}…`);
}
