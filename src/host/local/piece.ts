/** Longer pieces of text are published as several frames. */
const PIECE_LENGTH = 16 * 1024;

/** A piece of text in parts that fit into a frame and part no surrogate pair. */
export function partsOf(text: string): readonly string[] {
  if (text.length <= PIECE_LENGTH) return [text];
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + PIECE_LENGTH, text.length);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}
