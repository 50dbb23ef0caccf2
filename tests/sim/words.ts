import type { Random } from "./random.ts";

const FILLERS: readonly string[] = [
  "",
  "lorem ipsum ",
  "é\u0301 ",
  "👩‍💻",
  "𝒳𝒴",
  "\n",
  '"\\\t',
  "\u2028",
  "🇺🇦🇺🇦",
  "word ".repeat(30),
];

/** Text that says where it belongs at every point of it, with everything in it that is hard to cut, count and encode. */
export function wordsOf(random: Random, id: string, most: number): string {
  const length = random.between(1, most);
  let text = "";
  for (let count = 0; text.length < length; count++) text += `${id}#${count} ${random.pick(FILLERS)}`;
  return text;
}

/** Cuts a text into pieces at any unit, also inside of a surrogate pair. */
export function piecesOf(random: Random, text: string, most: number): string[] {
  const pieces: string[] = [];
  const size = Math.max(1, Math.ceil(text.length / random.between(1, most)));
  for (let at = 0; at < text.length;) {
    const end = Math.min(text.length, at + random.between(1, 2 * size));
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
