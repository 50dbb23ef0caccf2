import type { Channel, OpenMessage } from "../../model/message.ts";
import type { Frame } from "../../model/frame.ts";
import type { Ids } from "../../model/clock.ts";
import type { Log } from "../../model/log.ts";
import type { PlanEntry } from "../../model/plan.ts";
import type { Run, RunEnd } from "../../model/run.ts";
import type { ToolInput, ToolResult } from "../../model/tool.ts";
import type { TurnInput } from "../../model/prompt.ts";
import { encodeBody, type RowBody } from "../../model/row.ts";
import type { Limits } from "../../limits.ts";
import type { Fanout } from "./fanout.ts";
import type { Journal } from "./journal.ts";
import { KnownIds } from "./known_ids.ts";
import { MessageRow } from "./message_row.ts";
import { type BodyReader, FixedRow } from "./row.ts";
import { ToolRow } from "./tool_row.ts";
import { encodedLength, fitInput, fitResult } from "./tool_fit.ts";

/** Longer pieces of text are published as several frames. */
const PIECE_LENGTH = 16 * 1024;
/** Encoded UTF-16 units of a result that a frame carries; a larger one is read from the transcript. */
const RESULT_LENGTH = 32 * 1024;
/** Ended ids that a Run remembers. */
const ENDED_IDS = 8192;

/** What the transcripts of a Session's Runs share. */
export interface TranscriptParts {
  readonly journal: Journal;
  readonly fanout: Fanout;
  readonly stored: BodyReader;
  readonly limits: Limits;
  readonly ids: Ids;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
}

/**
 * What one Run says: it becomes rows, which are saved by and by, and frames, which go out at once. What an Engine says about ids
 * that it ended or never opened is ignored or, for tools, opened late; it never throws.
 */
export class RunTranscript {
  readonly run: Run;
  readonly #parts: TranscriptParts;
  readonly #messages = new Map<string, MessageRow>();
  readonly #tools = new Map<string, ToolRow>();
  readonly #ended = new KnownIds(ENDED_IDS);
  /** The message that spoke last, because most pieces continue it. */
  #speaking: MessageRow | undefined;
  #plan: FixedRow | undefined;
  #end: FixedRow | undefined;

  constructor(run: Run, parts: TranscriptParts) {
    this.run = run;
    this.#parts = parts;
  }

  /** Messages that are open now. */
  open(): OpenMessage[] {
    return [...this.#messages.values()].map((row) => ({
      run: this.run,
      messageId: row.id,
      channel: row.kind,
      length: row.length,
    }));
  }

  message(messageId: string, channel: Channel, piece: string): void {
    let row = this.#speaking;
    if (row === undefined || row.id !== messageId) {
      row = this.#messages.get(messageId) ?? this.#begin(messageId, channel, piece);
      if (row === undefined) return;
      this.#speaking = row;
    }
    if (row.kind !== channel) {
      this.#ignore("a message that changes its channel", messageId);
      return;
    }
    const text = row.whole(piece);
    if (text.length <= PIECE_LENGTH) this.#say(row, text);
    else for (const part of partsOf(text)) this.#say(row, part);
  }

  messageComplete(messageId: string): void {
    const row = this.#messages.get(messageId);
    if (row === undefined) this.#ignore("the end of a message that is not open", messageId);
    else this.#finishMessage(row);
  }

  messageReset(messageId: string): void {
    const row = this.#messages.get(messageId);
    if (row === undefined) return this.#ignore("the reset of a message that is not open", messageId);
    row.reset();
    this.#parts.journal.touch(row, 0);
    this.#parts.fanout.publish({ type: "message_reset", run: this.run, messageId, channel: row.kind }, 0);
  }

  messageSuperseded(messageId: string, by: string): void {
    const row = this.#messages.get(messageId);
    if (row === undefined) return this.#ignore("the end of a message that is not open", messageId);
    this.#finishMessage(row);
    this.#parts.fanout.publish({ type: "message_superseded", run: this.run, messageId, by }, 0);
  }

  toolStart(toolCallId: string, wanted: ToolInput, parent?: string): void {
    if (this.#tools.has(toolCallId)) return this.toolInput(toolCallId, wanted);
    if (this.#ended.has(toolCallId)) return this.#ignore("the start of a tool that has ended", toolCallId);
    this.#beginTool(toolCallId, fitInput(wanted, toolCallId), parent);
  }

  toolInput(toolCallId: string, wanted: ToolInput): void {
    const input = fitInput(wanted, toolCallId);
    const row = this.#tools.get(toolCallId);
    if (row === undefined) {
      if (this.#ended.has(toolCallId)) this.#ignore("the input of a tool that has ended", toolCallId);
      else this.#beginTool(toolCallId, input);
      return;
    }
    row.ask(input);
    this.#parts.journal.touch(row, 0);
    this.#publishInput(toolCallId, input);
  }

  toolOutput(toolCallId: string, stream: "stdout" | "stderr", text: string): void {
    const row = this.#tool(toolCallId);
    if (row === undefined || text === "") return;
    for (const part of text.length <= PIECE_LENGTH ? [text] : partsOf(text)) {
      const seq = row.write(part);
      this.#parts.journal.touch(row, part.length);
      this.#parts.fanout.publish(
        { type: "tool_output", run: this.run, toolCallId, seq, stream, redacted: false, text: part },
        part.length,
      );
    }
  }

  toolProgress(toolCallId: string, message: string): void {
    if (this.#tool(toolCallId) === undefined) return;
    this.#parts.fanout.publish(
      { type: "tool_progress", run: this.run, toolCallId, message },
      message.length,
    );
  }

  toolResult(toolCallId: string, wanted: ToolResult): void {
    const row = this.#tool(toolCallId);
    if (row === undefined) return;
    const result = fitResult(wanted);
    const durable = row.finish(result);
    this.#tools.delete(toolCallId);
    this.#ended.add(toolCallId);
    this.#parts.journal.touch(row, 0);
    const length = encodedLength(result);
    const frame = {
      type: "tool_result",
      run: this.run,
      toolCallId,
      status: result.status,
      ...durable,
    } as const;
    const whole = length <= RESULT_LENGTH;
    this.#parts.fanout.publish(
      whole ? { ...frame, contentOmitted: false, result } : { ...frame, contentOmitted: true },
      whole ? length : 0,
    );
  }

  plan(entries: readonly PlanEntry[]): void {
    const body = encodeBody({ kind: "plan", entries });
    if (this.#plan?.replace(body) !== true) this.#plan = this.#fixed({ kind: "plan", entries });
    this.#parts.fanout.publish({ type: "plan", run: this.run, entries }, body.length);
  }

  notice(severity: "info" | "warning" | "error", title: string, text?: string): void {
    this.#fixed({ kind: "notice", severity, title, text });
    this.#parts.fanout.publish(
      { type: "notice", run: this.run, severity, title, text },
      title.length + (text?.length ?? 0),
    );
  }

  /** Records words that a person gave to the Run while it worked. */
  words(id: string, input: TurnInput): void {
    this.#fixed({ kind: "user", input }, id);
  }

  /**
   * Ends what is open, tools as they are, and writes the end. Returns the sequence of the end row. Durable with the journal's
   * next commit; until then another end may take its place.
   */
  end(end: RunEnd): number {
    for (const row of this.#messages.values()) this.#finishMessage(row);
    for (const row of this.#tools.values()) {
      row.finish();
      this.#parts.journal.touch(row, 0);
    }
    this.#tools.clear();
    if (this.#end?.replace(encodeBody({ kind: "end", end })) !== true) {
      this.#end = this.#fixed({ kind: "end", end });
    }
    return this.#end.seq;
  }

  /** Whether a tool was started, ended or not. */
  hasTool(toolCallId: string): boolean {
    return this.#tools.has(toolCallId) || this.#ended.has(toolCallId);
  }

  #begin(messageId: string, channel: Channel, piece: string): MessageRow | undefined {
    if (piece === "") return undefined;
    if (this.#ended.has(messageId)) {
      this.#ignore("text for a message that has ended", messageId);
      return undefined;
    }
    const { journal, stored, date } = this.#parts;
    const row = journal.begin((seq) =>
      new MessageRow({ seq, run: this.run, kind: channel, id: messageId, at: date() }, stored)
    );
    this.#messages.set(messageId, row);
    return row;
  }

  #say(row: MessageRow, text: string): void {
    if (text === "") return;
    const offset = row.length;
    row.add(text);
    const { journal, fanout } = this.#parts;
    journal.touch(row, text.length);
    const { run } = this;
    fanout.publish(
      { type: "message", run, messageId: row.id, channel: row.kind, offset, text },
      text.length,
    );
  }

  #finishMessage(row: MessageRow): void {
    this.#say(row, row.remainder());
    const durable = row.finish();
    this.#messages.delete(row.id);
    this.#ended.add(row.id);
    if (this.#speaking === row) this.#speaking = undefined;
    this.#parts.journal.touch(row, 0);
    const frame: Frame = {
      type: "message_complete",
      run: this.run,
      messageId: row.id,
      channel: row.kind,
      ...durable,
    };
    this.#parts.fanout.publish(frame, 0);
  }

  #beginTool(toolCallId: string, input: ToolInput, parent?: string): ToolRow {
    const { journal, limits, date } = this.#parts;
    const row = journal.begin((seq) =>
      new ToolRow({ seq, run: this.run, id: toolCallId, at: date() }, { input, parent, limits })
    );
    this.#tools.set(toolCallId, row);
    this.#parts.fanout.publish({ type: "tool_start", run: this.run, toolCallId, parent }, 0);
    this.#publishInput(toolCallId, input);
    return row;
  }

  /** The open tool of an id. One that was never started begins now, so that nothing of it is lost. */
  #tool(toolCallId: string): ToolRow | undefined {
    const row = this.#tools.get(toolCallId);
    if (row !== undefined) return row;
    if (!this.#ended.has(toolCallId)) return this.#beginTool(toolCallId, fitInput(undefined, toolCallId));
    this.#ignore("news of a tool that has ended", toolCallId);
    return undefined;
  }

  #publishInput(toolCallId: string, input: ToolInput): void {
    this.#parts.fanout.publish(
      { type: "tool_input", run: this.run, toolCallId, input },
      encodedLength(input),
    );
  }

  #fixed(body: RowBody, id?: string): FixedRow {
    const { journal, ids, date } = this.#parts;
    return journal.begin((seq) =>
      new FixedRow(
        { seq, run: this.run, kind: body.kind, id: id ?? ids.next(), at: date() },
        encodeBody(body),
      )
    );
  }

  #ignore(what: string, id: string): void {
    this.#parts.log.debug(`Ignored ${what}`, { turnId: this.run.turnId, id });
  }
}

/** Cuts well-formed or any text into pieces that do not part surrogate pairs. */
function* partsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + PIECE_LENGTH, text.length);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}
