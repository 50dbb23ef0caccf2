import { LIMITS } from "../limits.ts";

/** Terminal control sequences: CSI, OSC (ended by BEL or ST) and the two-character ones. */
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/;

/**
 * A tool's output as it appears: the last {@linkcode LIMITS.cardLength} characters in at most {@linkcode LIMITS.cardChunks} pieces. What
 * was dropped is counted, what never came is marked.
 */
export class LiveOutput {
  #chunks: string[] = [];
  #first = 0;
  #length = 0;
  #dropped = 0;
  #next = 0;

  /** UTF-16 units kept. */
  get length(): number {
    return this.#length;
  }

  /** UTF-16 units that came, dropped ones included. */
  get total(): number {
    return this.#length + this.#dropped;
  }

  /** Takes piece number `seq`. False where it was seen before. */
  push(seq: number, text: string): boolean {
    if (seq < this.#next) return false;
    const lost = seq - this.#next;
    this.#next = seq + 1;
    if (lost > 0) this.#add(`\n[${lost} ${lost === 1 ? "piece" : "pieces"} of output missing]\n`);
    this.#add(text);
    return true;
  }

  /** Replaces what is kept by a record that covers more of it. The next piece may have any number from `seq` on. */
  replace(text: string, dropped: number): void {
    this.#chunks = [];
    this.#first = this.#length = 0;
    this.#dropped = dropped;
    this.#add(text);
  }

  /** After a replacement pieces between the last one seen and `seq` are in the record. */
  skipTo(seq: number): void {
    this.#next = Math.max(this.#next, seq);
  }

  /** UTF-16 units that came and are not kept. */
  get dropped(): number {
    return this.#dropped;
  }

  /** What is kept, as plain text. */
  text(): string {
    return plainText(this.#chunks.slice(this.#first).join(""));
  }

  #add(text: string): void {
    if (text.length === 0) return;
    let piece = text;
    if (piece.length > LIMITS.cardLength) {
      const cut = piece.length - LIMITS.cardLength;
      this.#dropped += cut;
      piece = piece.slice(cut);
    }
    this.#chunks.push(piece);
    this.#length += piece.length;
    while (this.#length > LIMITS.cardLength || this.#chunks.length - this.#first > LIMITS.cardChunks) {
      this.#dropOldest();
    }
    // Dropped places are freed in large steps, so that a long output costs no quadratic time.
    if (this.#first >= LIMITS.cardChunks) {
      this.#chunks = this.#chunks.slice(this.#first);
      this.#first = 0;
    }
  }

  #dropOldest(): void {
    const oldest = this.#chunks[this.#first] ?? "";
    const over = this.#length - LIMITS.cardLength;
    const full = this.#chunks.length - this.#first > LIMITS.cardChunks;
    if (!full && over < oldest.length) {
      this.#chunks[this.#first] = oldest.slice(over);
      this.#length -= over;
      this.#dropped += over;
      return;
    }
    this.#chunks[this.#first++] = "";
    this.#length -= oldest.length;
    this.#dropped += oldest.length;
  }
}

/** What a terminal would show as text: no control sequences, CR LF as a line end, an overwritten line as its last state. */
export function plainText(text: string): string {
  if (text.search(CONTROL) < 0) return text;
  const lines = text.replace(ESCAPES, "").split("\n").map((line) => {
    const end = line.endsWith("\r") ? line.length - 1 : line.length;
    return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
  });
  return lines.join("\n").replace(CONTROLS, "");
}

/** A Markdown code block that its text cannot end: the fence is longer than any run of backticks in it. */
export function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const run of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}
