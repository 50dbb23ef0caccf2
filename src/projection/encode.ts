import { Buffer } from "node:buffer";
import type { EncodedUpdate } from "./step.ts";
import type { Meta } from "../model/json.ts";
import { LIMITS } from "../limits.ts";

/** Bytes of a line around the update: JSON-RPC's own words and a Session id of 64 characters, with room to spare. */
const ENVELOPE_BYTES = 256;

/** Bytes that one encoded update may take. */
export const UPDATE_BYTES: number = LIMITS.outputLineBytes - ENVELOPE_BYTES;

/** How far around a cut the end of a grapheme cluster is looked for, in UTF-16 units. */
const CLUSTER_UNITS = 64;

let clusters: Intl.Segmenter | undefined;

/** Bytes of a string in UTF-8. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** Whether a string fits into `bytes`, counted only where its length leaves doubt. */
export function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes);
}

/** JSON of a string. Half surrogates become U+FFFD, which is also what they are in UTF-8 digests. */
export function jsonText(text: string): string {
  return JSON.stringify(text.isWellFormed() ? text : text.toWellFormed());
}

/** Encoded `_meta` member with its leading comma, or nothing where there is none or it is too large to pass. */
export function metaMember(meta: Meta | undefined): string {
  if (meta === undefined) return "";
  const json = JSON.stringify(meta);
  return json.length > 2 && fits(json, LIMITS.metaBytes) ? `,"_meta":${json}` : "";
}

/** Bytes that one UTF-16 unit takes inside a JSON string. */
function cost(unit: number): number {
  if (unit >= 0x80) return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit >= 0x20) return 1;
  return unit === 0x0a || unit === 0x0d || unit === 0x09 || unit === 0x08 || unit === 0x0c ? 2 : 6;
}

/** The longest prefix of well-formed `text` from `start` whose JSON fits into `bytes`, as its end. */
export function prefixEnd(text: string, start: number, bytes: number): number {
  let left = bytes;
  let at = start;
  while (at < text.length && (left -= cost(text.charCodeAt(at))) >= 0) at++;
  return at >= text.length ? at : safeCut(text, at, start);
}

/** The longest suffix of well-formed `text` whose JSON fits into `bytes`, as its start. */
export function suffixStart(text: string, bytes: number): number {
  let left = bytes;
  let at = text.length;
  while (at > 0 && (left -= cost(text.charCodeAt(at - 1))) >= 0) at--;
  if (at <= 0) return 0;
  // A suffix may only shrink, so a cut that moved back into what did not fit goes on to the next whole character.
  return isLow(text.charCodeAt(at)) ? at + 1 : at;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The nearest place at or before `at`, but after `floor`, that parts neither a surrogate pair nor, if it can, a cluster. */
export function safeCut(text: string, at: number, floor: number): number {
  let cut = at;
  if (cut < text.length && isLow(text.charCodeAt(cut)) && cut > floor) cut--;
  if (cut <= floor) return cut;
  const before = text.charCodeAt(cut - 1);
  // Between two ASCII characters only CR LF is a cluster.
  if (before < 0x80 && before !== 0x0d && text.charCodeAt(cut) < 0x80) return cut;
  clusters ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  const from = Math.max(floor, cut - CLUSTER_UNITS);
  const near = clusters.segment(text.slice(from, cut + CLUSTER_UNITS)).containing(cut - from);
  // A cluster that begins where the window begins may be longer than the window: then the pair rule has to do.
  return near !== undefined && near.index > 0 ? from + near.index : cut;
}

/**
 * Encodes text behind `head`, which ends where the JSON string begins, and before `tail`; splits it into as many updates as the line
 * cap asks for. The first one ends in `firstTail`. Empty text makes no update.
 */
export function pushText(
  out: EncodedUpdate[],
  head: string,
  text: string,
  tail: string,
  firstTail: string = tail,
): void {
  if (text.length === 0) return;
  const whole = head + jsonText(text) + firstTail;
  if (fits(whole, UPDATE_BYTES)) {
    out.push(whole);
    return;
  }
  const fine = text.toWellFormed();
  const room = UPDATE_BYTES - bytesOf(head) - bytesOf(tail) - 2;
  for (let at = 0, end = firstTail; at < fine.length; end = tail) {
    const cut = Math.max(prefixEnd(fine, at, room - (bytesOf(end) - bytesOf(tail))), at + 1);
    out.push(head + JSON.stringify(fine.slice(at, cut)) + end);
    at = cut;
  }
}

/** A title or another single line: no line breaks, at most `length` UTF-16 units, cut visibly. */
export function oneLine(text: string, length: number): string {
  const line = text.slice(0, length * 4).replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line.length <= length && text.length <= length * 4) return line;
  return line.slice(0, safeCut(line, length - 1, 0)) + "…";
}
