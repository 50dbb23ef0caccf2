import type { Run, RunEnd } from "../../model/run.ts";
import type { ToolInput, ToolResult } from "../../model/tool.ts";
import { ENDED_IDS, KnownIds } from "./known_ids.ts";
import { partsOf } from "./piece.ts";
import { encodedLength, fitInput, fitResult } from "./tool_fit.ts";
import { ToolRow } from "./tool_row.ts";
import type { TranscriptParts } from "./transcript.ts";

/** Encoded UTF-16 units of a result that a frame carries; a larger one is read from the transcript. */
const RESULT_LENGTH = 32 * 1024;

/** The tools of one Run. One that is heard of before its start begins then, so that nothing of it is lost. */
export class RunTools {
  readonly #run: Run;
  readonly #parts: TranscriptParts;
  readonly #open = new Map<string, ToolRow>();
  readonly #ended = new KnownIds(ENDED_IDS);

  constructor(run: Run, parts: TranscriptParts) {
    this.#run = run;
    this.#parts = parts;
  }

  /** Whether a tool was started, ended or not. */
  has(toolCallId: string): boolean {
    return this.#open.has(toolCallId) || this.#ended.has(toolCallId);
  }

  /** Begins a tool. */
  start(toolCallId: string, wanted: ToolInput, parent?: string): void {
    if (this.has(toolCallId)) this.input(toolCallId, wanted);
    else this.#begin(toolCallId, fitInput(wanted, toolCallId), parent);
  }

  /** Replaces a tool's input. */
  input(toolCallId: string, wanted: ToolInput): void {
    const input = fitInput(wanted, toolCallId);
    if (!this.has(toolCallId)) {
      this.#begin(toolCallId, input);
      return;
    }
    const row = this.#tool(toolCallId);
    if (row === undefined) return;
    row.ask(input);
    this.#parts.journal.touch(row, 0);
    this.#publishInput(toolCallId, input);
  }

  /** Takes output as it appears. */
  output(toolCallId: string, stream: "stdout" | "stderr", text: string): void {
    const row = this.#tool(toolCallId);
    if (row === undefined || text === "") return;
    const { journal, fanout } = this.#parts;
    for (const part of partsOf(text)) {
      const seq = row.write(part);
      journal.touch(row, part.length);
      fanout.publish(
        { type: "tool_output", run: this.#run, toolCallId, seq, stream, redacted: false, text: part },
        part.length,
      );
    }
  }

  /** Shows a line about how far the tool is. It is not kept. */
  progress(toolCallId: string, message: string): void {
    if (this.#tool(toolCallId) === undefined) return;
    this.#parts.fanout.publish(
      { type: "tool_progress", run: this.#run, toolCallId, message },
      message.length,
    );
  }

  /** Ends a tool. */
  result(toolCallId: string, wanted: ToolResult): void {
    const row = this.#tool(toolCallId);
    if (row === undefined) return;
    const result = fitResult(wanted);
    const durable = row.finish(result);
    this.#open.delete(toolCallId);
    this.#ended.add(toolCallId);
    const { journal, fanout } = this.#parts;
    journal.touch(row, 0);
    const length = encodedLength(result);
    const frame = {
      type: "tool_result",
      run: this.#run,
      toolCallId,
      status: result.status,
      ...durable,
    } as const;
    if (length <= RESULT_LENGTH) fanout.publish({ ...frame, contentOmitted: false, result }, length);
    else fanout.publish({ ...frame, contentOmitted: true }, 0);
  }

  /** Ends all that are open, without a result, because the Run ended in this way. */
  end(how: RunEnd["how"]): void {
    for (const row of this.#open.values()) {
      row.cut(how);
      this.#parts.journal.touch(row, 0);
    }
    this.#open.clear();
  }

  #begin(toolCallId: string, input: ToolInput, parent?: string): ToolRow {
    const { journal, fanout, limits, date } = this.#parts;
    const row = journal.begin((seq) =>
      new ToolRow({ seq, run: this.#run, id: toolCallId, at: date() }, { input, parent, limits })
    );
    this.#open.set(toolCallId, row);
    fanout.publish({ type: "tool_start", run: this.#run, toolCallId, parent }, 0);
    this.#publishInput(toolCallId, input);
    return row;
  }

  /** The open tool of an id. */
  #tool(toolCallId: string): ToolRow | undefined {
    const row = this.#open.get(toolCallId);
    if (row !== undefined) return row;
    if (!this.#ended.has(toolCallId)) return this.#begin(toolCallId, fitInput(undefined, toolCallId));
    this.#parts.log.debug("Ignored news of a tool that has ended", { turnId: this.#run.turnId, toolCallId });
    return undefined;
  }

  #publishInput(toolCallId: string, input: ToolInput): void {
    this.#parts.fanout.publish(
      { type: "tool_input", run: this.#run, toolCallId, input, meta: input.meta },
      encodedLength(input),
    );
  }
}
