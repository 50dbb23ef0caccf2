/** The end of a long text: keeps the last `most` UTF-16 units and counts what it dropped. */
export class Tail {
  readonly #most: number;
  #kept = "";
  #length = 0;

  /** Keeps up to `most` units. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes the next piece. */
  push(text: string): void {
    this.#length += text.length;
    this.#kept += text;
    // Cutting only at twice the size makes the cost of a unit constant.
    if (this.#kept.length > 2 * this.#most) this.#kept = this.#kept.slice(-this.#most);
  }

  /** What is kept; a first line says how much is missing, where something is. */
  text(): string {
    let kept = this.#kept.length > this.#most ? this.#kept.slice(-this.#most) : this.#kept;
    if (/^[\udc00-\udfff]/.test(kept)) kept = kept.slice(1);
    const dropped = this.#length - kept.length;
    return dropped === 0 ? kept : `[${dropped} earlier characters left out]\n${kept}`;
  }
}
