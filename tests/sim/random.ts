/**
 * The one source of chance of a simulation: a small generator (sfc32) that gives the same numbers for the same seed everywhere. Each
 * part draws from a stream of its own, so that one more draw in one part leaves the others as they were.
 */
export class Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** Begins the stream of a seed, which may be any text. */
  constructor(seed: string) {
    this.#seed = seed;
    this.#a = hash(seed, 0x9e3779b9);
    this.#b = hash(seed, 0x243f6a88);
    this.#c = hash(seed, 0xb7e15162);
    for (let round = 0; round < 12; round++) this.next();
  }

  /** A stream of its own under this one's seed. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** At least 0 and below 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#count++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum | 0;
    return (sum >>> 0) / 4294967296;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }

  /** One of the weighted choices; those of weight 0 never. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return choices.at(-1)![1];
  }

  /** Milliseconds as they occur: most often none or a few, sometimes many. */
  pause(): number {
    return this.weighted<() => number>([
      [30, () => 0],
      [30, () => this.between(1, 5)],
      [20, () => this.between(5, 60)],
      [14, () => this.between(60, 400)],
      [6, () => this.between(400, 3000)],
    ])();
  }
}

/** FNV-1a with a start of its own. */
function hash(text: string, start: number): number {
  let sum = start | 0;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 16777619);
  return sum;
}
