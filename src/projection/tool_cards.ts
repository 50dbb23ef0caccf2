import type { Change } from "./card.ts";
import type { CardStyle } from "./card_view.ts";
import type { EncodedUpdate } from "./step.ts";
import type { Frame } from "../model/frame.ts";
import type { HeldBody } from "../host/contract.ts";
import type { JsonObject } from "../model/json.ts";
import type { RowHead } from "../model/row.ts";
import type { ToolRecord } from "../model/tool.ts";
import { CardWire } from "./card_wire.ts";
import { LIMITS } from "../limits.ts";
import { ToolCard, wordsOf } from "./card.ts";

/** Frames about one tool. */
export type ToolFrame = Extract<Frame, { type: `tool_${string}` }>;

interface Entry {
  readonly card: ToolCard;
  readonly wire: CardWire;
  /** Dialogs about this tool that are open. */
  holds: number;
  /** The end was shown and the payload is gone. */
  freed: boolean;
  /** Stands for a question about no tool. */
  question: boolean;
}

/**
 * All tool cards of one Run: which of them wait for their next snapshot, and what they may present together.
 */
export class ToolCards {
  #style: CardStyle;
  #entries = new Map<string, Entry>();
  /** Open cards with something to send later. */
  #waiting = new Set<Entry>();
  /** Announced by a start alone; its input usually follows at once and makes a better first showing. */
  #bare: Entry | undefined;
  #tools = 0;
  #length = 0;
  #limited: boolean;

  /** Begins without cards. `limited`: what is shown counts against a prompt's budget from the start. */
  constructor(style: CardStyle, limited: boolean) {
    this.#style = style;
    this.#limited = limited;
  }

  /** From now on what is shown counts; what was shown before does not. */
  limit(): void {
    if (this.#limited) return;
    this.#limited = true;
    this.#tools = this.#length = 0;
  }

  /** Whether more tools, or more characters of tool content, came than one prompt presents. */
  get overfull(): boolean {
    return this.#limited && (this.#tools > LIMITS.promptTools || this.#length > LIMITS.promptToolLength);
  }

  /** When the next waiting snapshot is due; undefined where none is. */
  get due(): number | undefined {
    let due = this.#bare === undefined ? Infinity : 0;
    for (const entry of this.#waiting) if (entry.holds === 0) due = Math.min(due, entry.wire.dueAt());
    return due === Infinity ? undefined : Math.max(0, due);
  }

  /** Takes a frame. Whatever came before it is shown before it. */
  apply(frame: ToolFrame, now: number, out: EncodedUpdate[]): void {
    if (frame.toolCallId !== this.#bare?.card.id) this.flushBare(now, out);
    const entry = this.#entry(frame.toolCallId);
    const { card, wire } = entry;
    if (frame.meta !== undefined && card.end === undefined) card.meta = frame.meta;
    const before = card.weight;
    let change: Change;
    let text = "";
    switch (frame.type) {
      case "tool_start":
        change = card.takeStart(frame.parent);
        if (!wire.called && card.end === undefined) {
          this.#bare = entry;
          return;
        }
        break;
      case "tool_input":
        change = card.takeInput(frame.input, now);
        if (change === "all") text = wordsOf(frame.input.shown);
        break;
      case "tool_output":
        text = frame.redacted && frame.text === "" ? "[redacted]" : frame.text;
        change = card.takeOutput(frame.seq, text);
        break;
      case "tool_progress":
        text = frame.message;
        change = card.takeProgress(text);
        break;
      case "tool_result":
        change = card.takeResult(frame.status, frame.contentOmitted ? undefined : frame.result, frame.sha256);
        break;
    }
    this.#length += card.weight - before;
    this.#show(entry, change, text, now, out);
  }

  /** Takes the record of a tool from the transcript. */
  record(record: ToolRecord, row: RowHead, now: number, out: EncodedUpdate[]): void {
    this.flushBare(now, out);
    const entry = this.#entry(record.toolCallId);
    const before = entry.card.weight;
    const hidden = row.sensitive && !record.input.sensitive;
    const safe = hidden ? { ...record, input: { ...record.input, sensitive: true } } : record;
    const change = entry.card.takeRecord(safe, row, now);
    this.#length += entry.card.weight - before;
    this.#show(entry, change, "", now, out);
  }

  /** Takes a record that is too long to be read. */
  oversize(row: RowHead, now: number, out: EncodedUpdate[]): void {
    this.flushBare(now, out);
    const entry = this.#entry(row.id);
    this.#show(entry, entry.card.takeOversize(row), "", now, out);
  }

  /** Shows a tool of which nothing but its start is known. */
  flushBare(now: number, out: EncodedUpdate[]): void {
    const entry = this.#bare;
    if (entry === undefined) return;
    this.#bare = undefined;
    this.#send(entry, now, out);
  }

  /** Sends the snapshots that are due. */
  tick(now: number, out: EncodedUpdate[]): void {
    this.flushBare(now, out);
    for (const entry of this.#waiting) {
      if (entry.holds === 0 && entry.wire.dueAt() <= now) this.#send(entry, now, out);
    }
  }

  /**
   * Leaves a card alone while a dialog about it is open; first shows what is known, so that the card precedes the dialog. `question`
   * names the card of a dialog that is about no tool.
   */
  hold(toolCallId: string, question: string | undefined, now: number, out: EncodedUpdate[]): void {
    this.flushBare(now, out);
    const entry = this.#entry(toolCallId);
    if (question !== undefined && !entry.wire.called) {
      entry.question = true;
      entry.card.takeQuestion(question);
    }
    entry.card.wait(undefined);
    if (entry.holds === 0) this.#send(entry, now, out);
    entry.holds++;
  }

  /**
   * A dialog is over: the card shows again what the tool is, not what the dialog wrote on it. A question about no tool is over with
   * its dialog.
   */
  release(toolCallId: string, now: number, out: EncodedUpdate[]): void {
    const entry = this.#entries.get(toolCallId);
    if (entry === undefined || entry.holds === 0 || --entry.holds > 0) return;
    if (entry.question) entry.wire.note(entry.card.takeResult("completed", undefined, undefined));
    if (entry.card.end === undefined) entry.card.wait(now);
    if (!entry.freed) entry.wire.unsettle();
    this.#send(entry, now, out, true);
  }

  /** A card as a dialog shows it. */
  dialog(toolCallId: string): JsonObject | undefined {
    return this.#entries.get(toolCallId)?.wire.dialog();
  }

  /** Ends every open card, with what it showed. `unseen`: also those that were not shown yet. */
  interrupt(note: string, unseen: boolean, now: number, out: EncodedUpdate[]): void {
    this.#bare = undefined;
    for (const entry of this.#entries.values()) {
      if (!entry.wire.called && !unseen) continue;
      if (entry.freed && !entry.wire.wants) continue;
      entry.holds = 0;
      entry.wire.note(entry.card.interrupt(note));
      this.#send(entry, now, out);
    }
    this.#waiting.clear();
  }

  /** A tool whose announced result no durable row brought. */
  missing(): string | undefined {
    for (const { card } of this.#entries.values()) if (card.missing) return card.id;
    return undefined;
  }

  /** Durable rows that are shown. */
  held(into: HeldBody[]): void {
    for (const { card } of this.#entries.values()) {
      if (card.durable !== undefined) into.push({ kind: "tool", id: card.id, ...card.durable });
    }
  }

  #entry(toolCallId: string): Entry {
    let entry = this.#entries.get(toolCallId);
    if (entry === undefined) {
      const card = new ToolCard(toolCallId);
      entry = { card, wire: new CardWire(card, this.#style), holds: 0, freed: false, question: false };
      this.#entries.set(toolCallId, entry);
      this.#tools++;
    }
    return entry;
  }

  #show(entry: Entry, change: Change, text: string, now: number, out: EncodedUpdate[]): void {
    if (this.#bare === entry) this.#bare = undefined;
    if ((change === "nothing" && entry.wire.called) || this.overfull) return;
    const { card, wire } = entry;
    wire.note(change, text);
    if (entry.holds === 0 && (card.end !== undefined || wire.dueAt() <= now)) this.#send(entry, now, out);
    else this.#wait(entry);
  }

  #send(entry: Entry, now: number, out: EncodedUpdate[], all = false): void {
    const ended = entry.card.end !== undefined;
    const update = entry.wire.encode(now, all || ended);
    if (update !== undefined) out.push(update);
    if (ended) {
      entry.card.free();
      entry.freed = true;
    }
    this.#wait(entry);
  }

  #wait(entry: Entry): void {
    if (entry.wire.wants) this.#waiting.add(entry);
    else this.#waiting.delete(entry);
  }
}
