import { PART_LENGTH } from "./session_schema.ts";

/**
 * The end of a body that is being written: what is stored, with the parts that filled up since. Parts are all of
 * {@linkcode PART_LENGTH} units, so that the part of an offset is known without looking; the tail is never longer.
 */
export class RowBody {
  /** In UTF-16 units. */
  stored: number;
  tail: string;
  /** Parts that filled up and are not written yet. */
  readonly filled: { readonly index: number; readonly text: string }[] = [];

  constructor(stored = 0, tail = "") {
    this.stored = stored;
    this.tail = tail;
  }

  /** Whole parts before the tail. */
  get parts(): number {
    return (this.stored - this.tail.length) / PART_LENGTH;
  }

  /** Adds text at the end. */
  append(text: string): void {
    let index = this.parts;
    const joined = this.tail + text;
    let at = 0;
    for (; joined.length - at > PART_LENGTH; at += PART_LENGTH) {
      this.filled.push({ index: index++, text: joined.slice(at, at + PART_LENGTH) });
    }
    this.tail = at === 0 ? joined : joined.slice(at);
    this.stored += text.length;
  }
}
