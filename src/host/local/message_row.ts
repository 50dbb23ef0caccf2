import type { Channel } from "../../model/message.ts";
import type { Meta } from "../../model/json.ts";
import type { Run } from "../../model/run.ts";
import type { RowHead } from "../../model/row.ts";
import { TextDigest } from "../../model/digest.ts";
import type { Write } from "../store/contract.ts";
import type { BodyReader, PendingRow, RowIdentity, RowView } from "./row.ts";

/** Pieces that are joined at once. Bounds what many small strings weigh, without copying a text twice. */
const FOLD_PIECES = 512;

/**
 * A message while it is streamed. Only what the store does not have yet is in memory: the part on its way to the store, then
 * joined chunks, then single pieces.
 */
export class MessageRow implements PendingRow {
  readonly seq: number;
  readonly run: Run;
  readonly kind: Channel;
  readonly id: string;
  readonly at: number;
  /** Goes with each of its frames. */
  readonly meta: Meta | undefined;
  readonly #stored: BodyReader;
  #state: "open" | "final" = "open";
  #digest = new TextDigest();
  #length = 0;
  /** Units that the store has for sure. */
  #kept = 0;
  #flight = "";
  #chunks: string[] = [];
  #pieces: string[] = [];
  /** Rises when the text is taken back; a commit that was on its way then says nothing about the new text. */
  #edition = 0;
  #flightEdition = 0;
  /** How the next save reaches the store: behind what it has, or in its place after a reset. */
  #mode: "append" | "replace" = "append";
  /** A high surrogate whose other half is still to come. */
  #half = "";

  constructor(identity: RowIdentity & { readonly kind: Channel; readonly meta?: Meta }, stored: BodyReader) {
    this.seq = identity.seq;
    this.run = identity.run;
    this.kind = identity.kind;
    this.id = identity.id;
    this.at = identity.at;
    this.meta = identity.meta;
    this.#stored = stored;
  }

  get state(): "open" | "final" {
    return this.#state;
  }

  /** Units that were published. */
  get length(): number {
    return this.#length;
  }

  /**
   * Makes a piece of an Engine fit for publishing: a surrogate pair that was cut in two comes whole with its second half, a lone
   * half becomes U+FFFD. The result may be empty.
   */
  whole(piece: string): string {
    let text = this.#half === "" ? piece : this.#half + piece;
    this.#half = "";
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = text.slice(-1);
      text = text.slice(0, -1);
    }
    return text.isWellFormed() ? text : text.toWellFormed();
  }

  /** What is left of a pair whose second half never came. */
  remainder(): string {
    const rest = this.#half === "" ? "" : "\ufffd";
    this.#half = "";
    return rest;
  }

  /** Appends well-formed text. */
  add(text: string): void {
    this.#length += text.length;
    if (this.#pieces.push(text) >= FOLD_PIECES) this.#fold();
  }

  /** Ends it; returns the length and digest of the whole text. */
  finish(): { length: number; sha256: string } {
    this.#state = "final";
    this.#fold();
    return { length: this.#length, sha256: this.#digest.hex() };
  }

  /** Takes the whole text back. */
  reset(): void {
    this.#edition += 1;
    this.#mode = "replace";
    this.#digest = new TextDigest();
    this.#length = 0;
    this.#kept = 0;
    this.#chunks = [];
    this.#pieces = [];
    this.#half = "";
    this.#flight = "";
  }

  take(): readonly Write[] {
    this.#fold();
    this.#flight = this.#chunks.join("");
    this.#flightEdition = this.#edition;
    this.#chunks = [];
    const { seq } = this;
    const row: Write = { op: "row", head: this.#head() };
    if (this.#mode === "replace") return [row, { op: "body", seq, text: this.#flight }];
    if (this.#flight === "") return [row];
    return [row, { op: "append", seq, offset: this.#kept, text: this.#flight }];
  }

  kept(): void {
    if (this.#flightEdition !== this.#edition) return;
    this.#kept += this.#flight.length;
    this.#flight = "";
    this.#mode = "append";
  }

  lost(): void {
    if (this.#flightEdition !== this.#edition) return;
    if (this.#flight !== "") this.#chunks.unshift(this.#flight);
    this.#flight = "";
  }

  view(): RowView {
    this.#fold();
    const kept = this.#kept;
    const tail = this.#flight + this.#chunks.join("");
    const edition = this.#edition;
    return {
      head: this.#head(),
      text: async (offset, length) => {
        const end = Math.min(offset + length, kept + tail.length);
        if (offset >= kept) return tail.slice(offset - kept, end - kept);
        const front = await this.#stored(this.seq, offset, Math.min(end, kept) - offset);
        if (this.#edition !== edition) return undefined;
        return end > kept ? front + tail.slice(0, end - kept) : front;
      },
    };
  }

  #fold(): void {
    if (this.#pieces.length === 0) return;
    const text = this.#pieces.join("");
    this.#pieces = [];
    this.#digest.update(text);
    this.#chunks.push(text);
  }

  #head(): RowHead {
    const { seq, run, kind, id, at } = this;
    return {
      seq,
      run,
      kind,
      id,
      at,
      complete: this.#state === "final",
      sensitive: false,
      length: this.#length,
      sha256: this.#digest.hex(),
    };
  }
}
