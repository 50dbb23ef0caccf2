/** Ended ids that a Run remembers. */
export const ENDED_IDS = 8192;

/** The last ids that were ended, so that an Engine that goes on under one is noticed. Old ones are forgotten. */
export class KnownIds {
  readonly #limit: number;
  readonly #ids = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= this.#limit) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      break;
    }
  }
}
