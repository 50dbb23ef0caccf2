import { createHash, type Hash } from "node:crypto";

/** A running SHA-256 over text, taken in UTF-8, that can be asked at any point and goes on. */
export class TextDigest {
  #hash: Hash = createHash("sha256");
  #length = 0;
  /** A high surrogate that waits for its other half, so that a pair cut in two hashes like the whole. */
  #half = "";

  /** How much text was taken, in UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  /** Takes the next piece of text. */
  update(text: string): void {
    if (text.length === 0) return;
    this.#length += text.length;
    let whole = this.#half + text;
    this.#half = "";
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
    }
    if (whole.length > 0) this.#hash.update(whole);
  }

  /** Lower-case hex of everything so far; the digest can go on afterwards. */
  hex(): string {
    const hash = this.#hash.copy();
    if (this.#half !== "") hash.update(this.#half);
    return hash.digest("hex");
  }
}

/** Lower-case hex SHA-256 of a text in UTF-8. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
