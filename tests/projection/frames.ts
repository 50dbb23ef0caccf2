import type { Run } from "../../src/model/run.ts";
import type { Frame } from "../../src/model/frame.ts";
import type { Channel } from "../../src/model/message.ts";
import type { Shows } from "../../src/projection/mod.ts";
import type { ToolContent, ToolInput, ToolRecord, ToolResult } from "../../src/model/tool.ts";
import { digestOf } from "../../src/model/digest.ts";
import { encodeBody, type Row, type RowBody } from "../../src/model/row.ts";
import { TurnProjection } from "../../src/projection/mod.ts";

export const RUN: Run = { turnId: "turn", runId: "run" };

export const ALL: Shows = { terminal: true, booleanOptions: true, notices: true, compaction: true };
export const BARE: Shows = { terminal: false, booleanOptions: false, notices: false, compaction: false };

/** A projection that takes no secrets out, unless told to. */
export function projection(
  shows: Shows = ALL,
  redact: (text: string) => string = (text) => text,
): TurnProjection {
  return new TurnProjection(RUN.turnId, { abilities: shows, redact });
}

export function delta(messageId: string, offset: number, text: string, channel: Channel = "text"): Frame {
  return { type: "message", run: RUN, messageId, channel, offset, text };
}

export function complete(messageId: string, text: string, channel: Channel = "text"): Frame {
  return {
    type: "message_complete",
    run: RUN,
    messageId,
    channel,
    length: text.length,
    sha256: digestOf(text),
  };
}

export function reset(messageId: string, channel: Channel = "text"): Frame {
  return { type: "message_reset", run: RUN, messageId, channel };
}

export function superseded(messageId: string, by: string): Frame {
  return { type: "message_superseded", run: RUN, messageId, by };
}

export function start(toolCallId: string, parent?: string): Frame {
  return { type: "tool_start", run: RUN, toolCallId, parent };
}

export const INPUT: ToolInput = {
  complete: true,
  sensitive: false,
  title: "Run npm test",
  kind: "execute",
  locations: [],
  name: "run_command",
  raw: { command: "npm test" },
};

export function input(toolCallId: string, change: Partial<ToolInput> = {}): Frame {
  return { type: "tool_input", run: RUN, toolCallId, input: { ...INPUT, ...change } };
}

export function output(toolCallId: string, seq: number, text: string, redacted = false): Frame {
  return { type: "tool_output", run: RUN, toolCallId, seq, stream: "stdout", redacted, text };
}

export function progress(toolCallId: string, message: string): Frame {
  return { type: "tool_progress", run: RUN, toolCallId, message };
}

export function texts(...words: string[]): ToolContent[] {
  return words.map((text) => ({ kind: "text", text }));
}

export const RESULT: ToolResult = {
  status: "completed",
  content: texts("4 tests passed"),
  diffs: [],
};

/** A result; `row` is the row that it announces. */
export function result(
  toolCallId: string,
  change: (Partial<ToolResult> & { omitted?: boolean }) | undefined = undefined,
  row: Row | undefined = undefined,
): Frame {
  const { omitted = false, ...fields } = change ?? {};
  const whole = { ...RESULT, ...fields };
  return {
    type: "tool_result",
    run: RUN,
    toolCallId,
    status: whole.status,
    result: omitted ? undefined : whole,
    contentOmitted: omitted,
    length: row?.length,
    sha256: row?.sha256,
  };
}

/** A tool's record; `status` null leaves it without a result. */
export function record(
  toolCallId: string,
  change: Partial<ToolResult> = {},
  rest: Partial<Omit<ToolRecord, "result">> & { open?: boolean } = {},
): ToolRecord {
  const { open = false, ...fields } = rest;
  return { toolCallId, input: INPUT, ...(open ? {} : { result: { ...RESULT, ...change } }), ...fields };
}

let seqs = 0;

/** A whole row. */
export function row(body: RowBody, id: string, change: Partial<Row> = {}): Row {
  const text = encodeBody(body);
  return {
    seq: ++seqs,
    run: RUN,
    kind: body.kind,
    id,
    complete: true,
    sensitive: false,
    length: text.length,
    sha256: digestOf(text),
    at: 0,
    body: { offset: 0, text },
    ...change,
  };
}

export function textRow(id: string, text: string, change: Partial<Row> = {}, channel: Channel = "text"): Row {
  return row({ kind: channel, text }, id, change);
}

export function toolRow(tool: ToolRecord, change: Partial<Row> = {}): Row {
  return row({ kind: "tool", tool }, tool.toolCallId, change);
}

/** A row in fragments of `size` units, from `from` on. */
export function fragments(whole: Row, size: number, from = 0): Row[] {
  const text = whole.body?.text ?? "";
  const rows: Row[] = [];
  for (let offset = from; offset < text.length; offset += size) {
    rows.push({ ...whole, body: { offset, text: text.slice(offset, offset + size) } });
  }
  if (rows.length === 0) rows.push({ ...whole, body: undefined });
  return rows;
}

/** Repeatable random numbers (mulberry32). */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  /** From 0 inclusive to `sides` exclusive. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296 * sides);
  }
  pick<T>(items: readonly T[]): T {
    const item = items[this.roll(items.length)];
    if (item === undefined) throw new RangeError("Cannot pick from nothing");
    return item;
  }
}
