/** One input line: its text, or the beginning of a line that was longer than the limit and has been skipped. */
export type Line =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "oversize"; readonly head: string };

const LINE_FEED = 0x0a;
/** Enough of an over-long line to find its id, which clients write before the parameters. */
const HEAD_BYTES = 4096;
/** A buffer up to this size is kept for the next line. */
const KEPT_BYTES = 64 * 1024;

/**
 * Bytes to lines. UTF-8 may be cut anywhere, a carriage return before the line feed and a byte order mark are no part of a
 * line. While a line is too long its bytes are dropped as they come, so memory stays within the limit.
 */
export class LineSplitter {
  #limit: number;
  #decoder: TextDecoder = new TextDecoder();
  #buffer: Uint8Array = new Uint8Array(0);
  #length = 0;
  #state: "reading" | "skipping" = "reading";

  /** `limit` is in bytes, without the line feed. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes longer lines from now on. */
  raise(limit: number): void {
    this.#limit = limit;
  }

  /** Takes the next bytes and yields the lines that end in them. An over-long line is yielded once, when it passes the limit. */
  *push(chunk: Uint8Array): Generator<Line> {
    let start = 0;
    while (start < chunk.length) {
      const found = chunk.indexOf(LINE_FEED, start);
      const end = found === -1 ? chunk.length : found;
      if (this.#state === "reading" && this.#length + end - start > this.#limit) {
        yield this.#skip(chunk.subarray(start, end));
      }
      if (found === -1) {
        if (this.#state === "reading") this.#append(chunk.subarray(start));
        return;
      }
      if (this.#state === "skipping") this.#state = "reading";
      else yield this.#take(chunk.subarray(start, end));
      start = end + 1;
    }
  }

  /** The last line where it had no line feed. */
  end(): Line | undefined {
    return this.#length === 0 ? undefined : this.#take(new Uint8Array(0));
  }

  #take(tail: Uint8Array): Line {
    if (this.#length === 0) return this.#text(tail);
    this.#append(tail);
    const line = this.#text(this.#buffer.subarray(0, this.#length));
    this.#clear();
    return line;
  }

  #skip(tail: Uint8Array): Line {
    this.#append(tail.subarray(0, Math.max(0, HEAD_BYTES - this.#length)));
    const head = this.#decoder.decode(this.#buffer.subarray(0, Math.min(this.#length, HEAD_BYTES)));
    this.#clear();
    this.#state = "skipping";
    return { kind: "oversize", head };
  }

  #text(bytes: Uint8Array): Line {
    // JSON takes a carriage return for white space; the decoder drops a byte order mark.
    return { kind: "text", text: this.#decoder.decode(bytes) };
  }

  // Copies: a chunk is often a small view of a large block, and a line that comes byte by byte would keep all the blocks.
  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(length, this.#buffer.length * 2, 1024));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  #clear(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = new Uint8Array(0);
  }
}
