const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The end of what a program wrote, at most so many bytes of UTF-8, never cut inside of a character. */
export class Scrollback {
  readonly #most: number;
  #kept = "";
  #truncated = false;

  /** `most` counts bytes. */
  constructor(most: number) {
    this.#most = Math.max(0, most);
  }

  /** Whether something was dropped. */
  get truncated(): boolean {
    this.#trim();
    return this.#truncated;
  }

  /** Takes the next piece. */
  push(text: string): void {
    this.#kept += text;
    // Cutting only at twice the size makes the cost of a unit constant.
    if (this.#kept.length > 2 * this.#most) this.#trim();
  }

  /** What is kept. */
  text(): string {
    this.#trim();
    return this.#kept;
  }

  #trim(): void {
    if (this.#kept.length * 3 <= this.#most) return;
    const bytes = encoder.encode(this.#kept);
    if (bytes.length <= this.#most) return;
    let from = bytes.length - this.#most;
    // Bytes that go on a character begin with 10.
    while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from++;
    this.#kept = decoder.decode(bytes.subarray(from));
    this.#truncated = true;
  }
}
