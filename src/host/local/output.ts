/**
 * What a tool wrote while it worked, in bounded memory: the first and the last half of the limit, with what lay between
 * counted.
 */
export class LiveOutput {
  readonly #half: number;
  #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailLength = 0;
  #dropped = 0;
  #produced = 0;

  /** `limit` is in UTF-16 units. */
  constructor(limit: number) {
    this.#half = Math.floor(limit / 2);
  }

  /** Units that were written in all. */
  get produced(): number {
    return this.#produced;
  }

  add(text: string): void {
    this.#produced += text.length;
    let rest = text;
    const room = this.#half - this.#headLength;
    if (room > 0) {
      const front = rest.length <= room ? rest : rest.slice(0, cutBefore(rest, room));
      this.#head.push(front);
      // A pair that does not fit as a whole closes the front early.
      this.#headLength = front.length < rest.length ? this.#half : this.#headLength + front.length;
      rest = rest.slice(front.length);
    }
    if (rest === "") return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    if (this.#tailLength > 2 * this.#half) this.#trim();
  }

  /** The text that is kept, and how many units were dropped from its middle. */
  snapshot(): { text: string; dropped: number } {
    this.#trim();
    this.#head = [this.#head.join("")];
    return { text: this.#head.join("") + this.#tail.join(""), dropped: this.#dropped };
  }

  /** Cuts the tail to its half. Runs once in a half's worth of text, so its cost is spread. */
  #trim(): void {
    const tail = this.#tail.join("");
    const from = tail.length <= this.#half ? 0 : cutBefore(tail, tail.length - this.#half);
    this.#dropped += from;
    this.#tail = from === tail.length ? [] : [from === 0 ? tail : flat(tail.slice(from))];
    this.#tailLength = tail.length - from;
  }
}

/** The index at or below `index` that does not part a surrogate pair. */
function cutBefore(text: string, index: number): number {
  const low = text.charCodeAt(index);
  return low >= 0xdc00 && low <= 0xdfff && index > 0 ? index - 1 : index;
}

/** A copy that does not keep the longer text behind a slice alive. */
function flat(text: string): string {
  return [text, ""].join("");
}
