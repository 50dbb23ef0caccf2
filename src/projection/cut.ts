import { LIMITS } from "../limits.ts";
import { prefixEnd, suffixStart } from "./encode.ts";
import type { Redact } from "../model/redact.ts";

/** Room for the words of a cut. */
const MARK_BYTES = 64;

/**
 * Cuts the start of a text so that its JSON fits into `bytes`: the end of an output tells most. A first line counts what is not there,
 * the `dropped` characters before the text included.
 */
export function keepTail(text: string, dropped: number, bytes: number): string {
  const fine = text.toWellFormed();
  const room = Math.max(0, bytes - MARK_BYTES);
  const start = prefixEnd(fine, 0, dropped === 0 ? bytes : room) === fine.length
    ? 0
    : lineStart(fine, suffixStart(fine, room));
  const hidden = dropped + start;
  return hidden === 0 ? fine : `[${hidden} earlier characters not shown]\n${fine.slice(start)}`;
}

/**
 * Redacts a text and cuts the middle out of it so that its JSON fits into `bytes`. Of a long text only the ends are looked at, with
 * so much to spare that no secret is parted at a place that shows.
 */
export function keepEnds(text: string, bytes: number, redact: Redact): string {
  const long = text.length > 2 * LIMITS.cardLength;
  const head = redact(long ? text.slice(0, LIMITS.cardLength) : text).toWellFormed();
  if (!long && prefixEnd(head, 0, bytes) === head.length) return head;
  const tail = long ? redact(text.slice(-LIMITS.cardLength)).toWellFormed() : head;
  const room = Math.max(0, bytes - MARK_BYTES);
  const end = prefixEnd(head, 0, Math.floor(room * 2 / 3));
  const start = suffixStart(tail, Math.floor(room / 3));
  const hidden = long ? text.length - 2 * LIMITS.cardLength + head.length - end + start : start - end;
  return `${head.slice(0, end)}\n[${hidden} characters not shown]\n${tail.slice(start)}`;
}

/** Moves a cut to the next line where that loses little. */
function lineStart(text: string, at: number): number {
  const line = text.indexOf("\n", at);
  return line >= 0 && line - at < 256 ? line + 1 : at;
}
