/**
 * Text as a column keeps it: itself, or UTF-16 bytes where UTF-8 would lose something (half a surrogate pair, as a cut
 * leaves it) or SQLite would stop reading (a zero).
 */
export type TextColumn = string | Uint8Array;

/** Writes text for a column without type affinity. */
export function toColumn(text: string): TextColumn {
  if (text.isWellFormed() && !text.includes("\0")) return text;
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return new Uint8Array(units.buffer);
}

/** How many units go through one call: engines bound the number of arguments. */
const SLICE = 8192;

/** Reads it back; throws SyntaxError where something else is stored. Byte order is this machine's: a state folder does not move between machines of different order. */
export function fromColumn(column: unknown): string {
  if (typeof column === "string") return column;
  if (!(column instanceof Uint8Array)) throw new SyntaxError("A text column holds something else");
  const bytes = column.slice();
  const units = new Uint16Array(bytes.buffer, 0, bytes.length >> 1);
  let text = "";
  for (let at = 0; at < units.length; at += SLICE) {
    text += String.fromCharCode(...units.subarray(at, at + SLICE));
  }
  return text;
}
