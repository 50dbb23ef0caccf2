import { type Block, boundedBlock } from "../../model/block.ts";
import { boundMeta } from "./bounds.ts";
import type { Channel, OpenMessage } from "../../model/message.ts";
import { digestOf } from "../../model/digest.ts";
import { encodeBody, type RowBody } from "../../model/row.ts";
import type { Meta } from "../../model/json.ts";
import type { Run } from "../../model/run.ts";
import { ENDED_IDS, KnownIds } from "./known_ids.ts";
import { FixedRow } from "./row.ts";
import { MessageRow } from "./message_row.ts";
import { partsOf } from "./piece.ts";
import type { TranscriptParts } from "./transcript.ts";

/** Encoded UTF-16 units of a block that a frame carries; a larger one is read from the transcript. */
const BLOCK_LENGTH = 32 * 1024;

/** The messages of one Run: each piece becomes a frame at once and is saved by and by. */
export class RunMessages {
  readonly #run: Run;
  readonly #parts: TranscriptParts;
  readonly #open = new Map<string, MessageRow>();
  readonly #ended = new KnownIds(ENDED_IDS);
  /** The message that spoke last, because most pieces continue it. */
  #speaking: MessageRow | undefined;

  constructor(run: Run, parts: TranscriptParts) {
    this.#run = run;
    this.#parts = parts;
  }

  /** Messages that are open now. */
  open(): OpenMessage[] {
    return [...this.#open.values()].map((row) => ({
      run: this.#run,
      messageId: row.id,
      channel: row.kind,
      length: row.length,
    }));
  }

  /** The next piece of a message. */
  say(messageId: string, channel: Channel, piece: string, meta?: Meta): void {
    let row = this.#speaking;
    if (row === undefined || row.id !== messageId) {
      row = this.#open.get(messageId) ?? this.#begin(messageId, channel, piece, meta);
      if (row === undefined) return;
      this.#speaking = row;
    }
    if (row.kind !== channel) return this.#ignore("a message that changes its channel", messageId);
    for (const part of partsOf(row.whole(piece))) this.#publish(row, part);
  }

  /** A part that is whole at once. */
  content(contentId: string, channel: Channel, wanted: Block, wantedMeta?: Meta): void {
    if (this.#open.has(contentId) || this.#ended.has(contentId)) {
      return this.#ignore("content under an id that was used", contentId);
    }
    const { limits, fanout } = this.#parts;
    const block = boundedBlock(wanted, limits.imageBytes);
    const meta = boundMeta(wantedMeta, limits);
    const body = this.#record(contentId, { kind: "content", channel, block, meta });
    this.#ended.add(contentId);
    const frame = {
      type: "content",
      run: this.#run,
      contentId,
      channel,
      length: body.length,
      sha256: digestOf(body),
      meta,
    } as const;
    if (body.length <= BLOCK_LENGTH) fanout.publish({ ...frame, block }, body.length);
    else fanout.publish(frame, 0);
  }

  /** Ends a message. */
  complete(messageId: string): void {
    const row = this.#open.get(messageId);
    if (row === undefined) this.#ignore("the end of a message that is not open", messageId);
    else this.#finish(row);
  }

  /** Takes back what was said. */
  reset(messageId: string): void {
    const row = this.#open.get(messageId);
    if (row === undefined) return this.#ignore("the reset of a message that is not open", messageId);
    row.reset();
    const { journal, fanout } = this.#parts;
    journal.touch(row, 0);
    fanout.publish({ type: "message_reset", run: this.#run, messageId, channel: row.kind }, 0);
  }

  /** Ends a message in favour of another. */
  supersede(messageId: string, by: string): void {
    const row = this.#open.get(messageId);
    if (row === undefined) return this.#ignore("the end of a message that is not open", messageId);
    this.#finish(row);
    this.#parts.fanout.publish({ type: "message_superseded", run: this.#run, messageId, by }, 0);
  }

  /** Ends all that are open. */
  end(): void {
    for (const row of this.#open.values()) this.#finish(row);
  }

  #begin(messageId: string, channel: Channel, piece: string, wanted?: Meta): MessageRow | undefined {
    if (piece === "") return undefined;
    if (this.#ended.has(messageId)) {
      this.#ignore("text for a message that has ended", messageId);
      return undefined;
    }
    const { journal, stored, date, limits } = this.#parts;
    const meta = boundMeta(wanted, limits);
    if (meta !== undefined) this.#record(messageId, { kind: "content", channel, meta });
    const row = journal.begin((seq) =>
      new MessageRow({ seq, run: this.#run, kind: channel, id: messageId, at: date(), meta }, stored)
    );
    this.#open.set(messageId, row);
    return row;
  }

  #publish(row: MessageRow, text: string): void {
    if (text === "") return;
    const offset = row.length;
    row.add(text);
    const { journal, fanout } = this.#parts;
    journal.touch(row, text.length);
    const { id: messageId, kind: channel, meta } = row;
    const frame = { type: "message", run: this.#run, messageId, channel, offset, text } as const;
    fanout.publish(meta === undefined ? frame : { ...frame, meta }, text.length);
  }

  /** Writes a row that is whole; returns its body. */
  #record(id: string, content: RowBody & { kind: "content" }): string {
    const { journal, date } = this.#parts;
    const body = encodeBody(content);
    journal.begin((seq) => new FixedRow({ seq, run: this.#run, kind: "content", id, at: date() }, body));
    return body;
  }

  #finish(row: MessageRow): void {
    this.#publish(row, row.remainder());
    const durable = row.finish();
    this.#open.delete(row.id);
    this.#ended.add(row.id);
    if (this.#speaking === row) this.#speaking = undefined;
    const { journal, fanout } = this.#parts;
    journal.touch(row, 0);
    const about = { run: this.#run, messageId: row.id, channel: row.kind };
    fanout.publish({ type: "message_complete", ...about, ...durable }, 0);
  }

  #ignore(what: string, messageId: string): void {
    this.#parts.log.debug(`Ignored ${what}`, { turnId: this.#run.turnId, messageId });
  }
}
