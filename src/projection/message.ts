import { type Channel, messageIdOf } from "../model/message.ts";
import type { EncodedUpdate } from "./step.ts";
import type { Meta } from "../model/json.ts";
import type { Row } from "../model/row.ts";
import { metaMember, pushText } from "./encode.ts";
import { TextDigest } from "../model/digest.ts";

const WORDS: { readonly [channel in Channel]: string } = {
  text: "agent_message_chunk",
  thinking: "agent_thought_chunk",
};
/** What closes a chunk behind its JSON string. */
export const CHUNK_TAIL = "}}";

/** A chunk up to where its content begins, under the id of the message that `id` is a part of. */
export function chunkStart(id: string, channel: Channel): string {
  return `{"sessionUpdate":"${WORDS[channel]}","messageId":${JSON.stringify(messageIdOf(id))},"content":`;
}

/** A chunk of text up to where its JSON string begins. */
export function chunkHead(id: string, channel: Channel): string {
  return `${chunkStart(id, channel)}{"type":"text","text":`;
}

/** What an event did to a message. `gap`: text is missing before it. `revised`: it contradicts what was shown. */
export type MessageOutcome = "fine" | "gap" | "revised";

/** A prefix of a row that comes again from 0 and is compared with what was shown. */
interface Comparison {
  readonly digest: TextDigest;
  readonly until: number;
  readonly expected: string;
}

/**
 * What was shown of one message: its length and a running digest, never its text.
 *
 * Text only ever grows. A half surrogate at the end of what came waits for its other half.
 */
export class ShownMessage {
  readonly id: string;
  readonly channel: Channel;
  #head: string;
  #length = 0;
  #half = "";
  #digest: TextDigest | undefined = new TextDigest();
  #sha256 = "";
  #phase: "open" | "complete" | "superseded" = "open";
  #announced: string | undefined;
  #durable: string | undefined;
  #comparison: Comparison | undefined;
  /** Of the message's text; what comes as rows has it from a row of its own. */
  #meta: Meta | undefined;

  /** Begins a message of which nothing is shown. */
  constructor(id: string, channel: Channel) {
    this.id = id;
    this.channel = channel;
    this.#head = chunkHead(id, channel);
  }

  /** UTF-16 units taken so far. */
  get length(): number {
    return this.#length;
  }

  /** Digest of what was taken so far. */
  get sha256(): string {
    return this.#digest === undefined ? this.#sha256 : this.#digest.hex();
  }

  /** Whether a complete body was announced that no durable row in agreement has brought. */
  get missing(): boolean {
    return this.#phase !== "superseded" && this.#announced !== undefined && this.#announced !== this.#durable;
  }

  /** Says what metadata the text has that rows bring. */
  describe(meta: Meta | undefined): void {
    this.#meta = meta;
  }

  /** Takes a live piece. Pieces seen before show nothing, overlapping ones their rest. */
  delta(offset: number, text: string, meta: Meta | undefined, out: EncodedUpdate[]): MessageOutcome {
    const known = this.#length - offset;
    if (known === 0 && this.#phase === "open") {
      this.#append(text, meta, out);
      return "fine";
    }
    if (known >= text.length || this.#phase === "superseded") return "fine";
    if (this.#phase === "complete") return "revised";
    if (known < 0) return "gap";
    this.#append(text.slice(known), meta, out);
    return "fine";
  }

  /** Takes the announced end of the message. */
  complete(length: number, sha256: string, out: EncodedUpdate[]): MessageOutcome {
    if (this.#phase === "superseded") return "fine";
    // An empty message has nothing that a row would have to keep.
    this.#announced = length === 0 ? undefined : sha256;
    if (length > this.#length && this.#phase === "open") return "gap";
    return this.#close(length, sha256, out);
  }

  /** The Host begins the message anew, which only a message of which nothing is shown can bear. */
  reset(): MessageOutcome {
    if (this.#phase === "superseded") return "fine";
    if (this.#length - this.#half.length > 0) return "revised";
    this.#length = 0;
    this.#half = "";
    this.#digest = new TextDigest();
    this.#phase = "open";
    this.#announced = undefined;
    this.#comparison = undefined;
    return "fine";
  }

  /** Another message takes over; this one stays as it was shown. */
  supersede(out: EncodedUpdate[]): void {
    if (this.#phase === "open") this.#seal(out);
    this.#phase = "superseded";
  }

  /**
   * Takes a row or a fragment of it. With `shorter` the row may keep less than was shown, as after a crash of the Host.
   */
  row(row: Row, shorter: boolean, out: EncodedUpdate[]): MessageOutcome {
    if (this.#phase === "superseded") return "fine";
    const body = row.body;
    if (body !== undefined) {
      const outcome = this.#fragment(body.offset, body.text, row.length, out);
      if (outcome !== "fine") return outcome;
      if (body.offset + body.text.length < row.length) return "fine";
    }
    if (!row.complete) return "fine";
    if (row.length < this.#length && shorter) return "fine";
    if (row.length > this.#length) return this.#phase === "open" ? "gap" : "revised";
    const outcome = this.#close(row.length, row.sha256, out);
    if (outcome === "fine") this.#durable = row.sha256;
    return outcome;
  }

  /** Shows a half surrogate that nothing will complete any more. */
  flush(out: EncodedUpdate[]): void {
    if (this.#half === "") return;
    pushText(out, this.#head, this.#half, CHUNK_TAIL);
    this.#half = "";
  }

  #append(text: string, meta: Meta | undefined, out: EncodedUpdate[]): void {
    if (text.length === 0) return;
    this.#length += text.length;
    this.#digest?.update(text);
    let whole = text;
    if (this.#half !== "") {
      whole = this.#half + text;
      this.#half = "";
    }
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
    }
    pushText(out, this.#head, whole, CHUNK_TAIL, meta === undefined ? CHUNK_TAIL : `}${metaMember(meta)}}`);
  }

  /** Compares what was shown before with a row's text, and shows what goes beyond it. */
  #fragment(offset: number, text: string, length: number, out: EncodedUpdate[]): MessageOutcome {
    if (offset > this.#length) return this.#phase === "open" ? "gap" : "revised";
    if (offset === 0 && this.#length > 0) {
      this.#comparison = length < this.#length
        ? undefined
        : { digest: new TextDigest(), until: this.#length, expected: this.sha256 };
    }
    let comparison = this.#comparison;
    if (comparison !== undefined && offset !== comparison.digest.length) {
      // Either another read began behind the prefix that the Host found in agreement, or a fragment is missing.
      if (offset !== this.#length) return "gap";
      comparison = this.#comparison = undefined;
    }
    if (comparison !== undefined) {
      const rest = comparison.until - offset;
      comparison.digest.update(rest < text.length ? text.slice(0, rest) : text);
      if (comparison.digest.length === comparison.until) {
        this.#comparison = undefined;
        if (comparison.digest.hex() !== comparison.expected) return "revised";
      }
    }
    const known = this.#length - offset;
    if (known >= text.length) return "fine";
    if (this.#phase === "complete") return "revised";
    this.#append(known === 0 ? text : text.slice(known), this.#meta, out);
    return "fine";
  }

  #close(length: number, sha256: string, out: EncodedUpdate[]): MessageOutcome {
    if (length !== this.#length || this.sha256 !== sha256) return "revised";
    if (this.#phase === "open") this.#seal(out);
    this.#phase = "complete";
    return "fine";
  }

  #seal(out: EncodedUpdate[]): void {
    this.#sha256 = this.sha256;
    this.#digest = undefined;
    this.#comparison = undefined;
    this.flush(out);
  }
}
