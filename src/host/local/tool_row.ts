import type { Run, RunEnd } from "../../model/run.ts";
import type { ToolInput, ToolRecord, ToolResult } from "../../model/tool.ts";
import { digestOf } from "../../model/digest.ts";
import { encodeBody, type RowHead } from "../../model/row.ts";
import type { Limits } from "../../limits.ts";
import type { Write } from "../store/contract.ts";
import { LiveOutput } from "./output.ts";
import type { PendingRow, RowIdentity, RowView } from "./row.ts";

/** Milliseconds that the output of an open tool may wait for a save when it grew by less than half. */
const PATIENCE_MS = 2000;

/** What the store has of an open tool: an input, and how much output at which moment. */
interface Saved {
  readonly input: ToolInput;
  readonly produced: number;
  readonly at: number;
}

/**
 * A tool from its start to its end. Its body is one JSON text that is written anew with each save, so an open tool is saved when
 * its output grew by half, and else now and then: the cost stays in proportion to what it wrote.
 */
export class ToolRow implements PendingRow {
  readonly seq: number;
  readonly run: Run;
  readonly kind = "tool";
  readonly id: string;
  readonly at: number;
  readonly #parent: string | undefined;
  readonly #limits: Limits;
  readonly #output: LiveOutput;
  #input: ToolInput;
  #result: ToolResult | undefined;
  #cutShort: RunEnd["how"] | undefined;
  #state: "open" | "final" = "open";
  #outputs = 0;
  /** The encoded body; undefined when something changed since. */
  #body: string | undefined;
  #saved: Saved | undefined;
  #flight: Saved | undefined;

  constructor(
    identity: Omit<RowIdentity, "kind">,
    options: { input: ToolInput; parent?: string; limits: Limits },
  ) {
    this.seq = identity.seq;
    this.run = identity.run;
    this.id = identity.id;
    this.at = identity.at;
    this.#input = options.input;
    this.#parent = options.parent;
    this.#limits = options.limits;
    this.#output = new LiveOutput(options.limits.toolOutputLength);
  }

  get state(): "open" | "final" {
    return this.#state;
  }

  /** Replaces the input. */
  ask(input: ToolInput): void {
    this.#input = input;
    this.#body = undefined;
  }

  /** Takes output; returns its number, from 0. */
  write(text: string): number {
    this.#output.add(text);
    this.#body = undefined;
    return this.#outputs++;
  }

  /** Ends it by its result. Returns the length and digest of the whole record. */
  finish(result: ToolResult): { length: number; sha256: string } {
    return this.#finish(result);
  }

  /** Ends it without a result, because its Run ended in this way. */
  cut(how: RunEnd["how"]): void {
    this.#cutShort = how;
    this.#finish(undefined);
  }

  #finish(result: ToolResult | undefined): { length: number; sha256: string } {
    this.#state = "final";
    this.#result = result;
    this.#body = undefined;
    if (result !== undefined && this.#encoded().length > this.#limits.assemblyLength) {
      this.#result = tooLarge(result, this.#encoded().length);
      this.#body = undefined;
    }
    const body = this.#encoded();
    return { length: body.length, sha256: digestOf(body) };
  }

  take(now: number): readonly Write[] | undefined {
    const { produced } = this.#output;
    const saved = this.#saved;
    if (this.#state === "open" && saved !== undefined && saved.input === this.#input) {
      const grew = produced - saved.produced;
      if (grew < saved.produced / 2 && now < saved.at + PATIENCE_MS) return undefined;
    }
    this.#flight = { input: this.#input, produced, at: now };
    const text = this.#encoded();
    return [{ op: "row", head: this.#head(text) }, { op: "body", seq: this.seq, text }];
  }

  kept(): void {
    this.#saved = this.#flight;
  }

  lost(): void {}

  view(): RowView {
    const body = this.#encoded();
    return { head: this.#head(body), text: (offset, length) => body.slice(offset, offset + length) };
  }

  #encoded(): string {
    this.#body ??= encodeBody({ kind: "tool", tool: this.#record() });
    return this.#body;
  }

  #record(): ToolRecord {
    const result = this.#result;
    // Content of a result takes the place of what was streamed.
    const output = result !== undefined && result.content.length > 0 || this.#output.produced === 0
      ? undefined
      : this.#output.snapshot();
    return {
      toolCallId: this.id,
      parent: this.#parent,
      input: this.#input,
      result,
      output,
      cutShort: this.#cutShort,
    };
  }

  #head(body: string): RowHead {
    const { seq, run, kind, id, at } = this;
    return {
      seq,
      run,
      kind,
      id,
      at,
      complete: this.#state === "final",
      sensitive: this.#input.sensitive,
      length: body.length,
      sha256: digestOf(body),
    };
  }
}

/** What is kept of a result that no reader could take in one go. */
function tooLarge(result: ToolResult, length: number): ToolResult {
  const text = `The tool's result of ${length} characters is too large to keep`;
  return {
    status: result.status,
    content: [{ kind: "text", text }],
    diffs: [],
    exitCode: result.exitCode,
  };
}
