import type { Diff, ToolContent, ToolEnd, ToolInput, ToolRecord, ToolResult } from "../model/tool.ts";
import type { Meta } from "../model/json.ts";
import { LIMITS } from "../limits.ts";
import { LiveOutput } from "./output.ts";

/** ACP's statuses. It has none for cancelled or interrupted: those are `failed` with a sentence. */
export type CardStatus = "pending" | "in_progress" | "completed" | "failed";

/** A tool's end as a card shows it. */
export interface CardEnd {
  readonly status: "completed" | "failed";
  /** Said on the card where `failed` alone would not be honest. */
  readonly note?: string;
}

/** The part of a result, or of a proposal, that a card shows as content. */
export type ToolBody = Pick<ToolResult, "content" | "diffs">;

/** Where the shown content comes from. It only ever moves forward. */
export type Stage = "live" | "preview" | "authoritative";

/** What an event changed of a card. */
export type Change = "nothing" | "head" | "all";

/** Milliseconds that a tool with its whole input stays `pending`: time for a permission dialog to open. */
const PENDING_MS = 200;

/** How a tool's own end is shown. */
export function endOf(status: ToolEnd): CardEnd {
  return status === "cancelled"
    ? { status: "failed", note: "Cancelled: the tool was stopped before it finished" }
    : { status };
}

/**
 * One tool as far as it is known, whatever order things came in. Knows nothing of what was sent.
 *
 * After its end the payload is freed; status and stage stay, so that nothing can reopen it.
 */
export class ToolCard {
  /** The tool call's id. */
  readonly id: string;
  /** The tool that called it. */
  parent: string | undefined;
  meta: Meta | undefined;
  input: ToolInput | undefined;
  output: LiveOutput | undefined;
  progress: string | undefined;
  result: ToolResult | undefined;
  end: CardEnd | undefined;
  stage: Stage = "live";
  /** Digest of the durable row that was announced for the result. */
  announced: string | undefined;
  /** The durable row whose result is shown. */
  durable: { readonly length: number; readonly sha256: string } | undefined;
  /** UTF-16 units of content that the card presented at most. */
  weight = 0;
  #inputComplete = false;
  /** When the tool counts as working: -Infinity once it showed that it does, Infinity while nothing says so. */
  #worksFrom = Infinity;
  #recorded = false;

  /** Begins a card of which nothing is known. */
  constructor(id: string) {
    this.id = id;
  }

  /** Whether an announced result lacks its durable row. */
  get missing(): boolean {
    return this.announced !== undefined && this.announced !== this.durable?.sha256;
  }

  /** What the tool shows before it has a result: a terminal, a change that it proposes. */
  get proposal(): ToolBody | undefined {
    const { shown, terminalId } = this.input ?? {};
    if (terminalId === undefined) return shown;
    const terminal: ToolContent = { kind: "terminal", terminalId };
    const content = shown?.content ?? [];
    const told = content.some((part) => part.kind === "terminal" && part.terminalId === terminalId);
    return { content: told ? content : [terminal, ...content], diffs: shown?.diffs ?? [] };
  }

  /** When the status moves on from `pending` by itself; Infinity where it does not. */
  get worksFrom(): number {
    return this.end === undefined ? this.#worksFrom : Infinity;
  }

  /** The status to show at `now`. */
  status(now: number): CardStatus {
    if (this.end !== undefined) return this.end.status;
    return now >= this.#worksFrom ? "in_progress" : "pending";
  }

  /** A dialog about the tool opened (`undefined`), or closed at `now`. A tool that showed its work goes on showing it. */
  wait(now: number | undefined): void {
    if (this.#worksFrom === -Infinity) return;
    const waits = now === undefined || this.input?.status === "pending";
    this.#worksFrom = waits ? Infinity : now + PENDING_MS;
  }

  /** The start names the tool that called this one. */
  takeStart(parent: string | undefined): Change {
    if (parent === undefined || this.parent !== undefined || this.end !== undefined) return "nothing";
    this.parent = parent;
    return "head";
  }

  /** A later input replaces an earlier one, a preview never a complete one. After the end only what was never known is taken. */
  takeInput(input: ToolInput, now: number): Change {
    if (this.#inputComplete && (!input.complete || this.end !== undefined)) return "nothing";
    const { shown, terminalId } = this.input ?? {};
    this.input = input;
    if (input.complete) this.#completeInput(now);
    if (this.end !== undefined || (input.shown === shown && input.terminalId === terminalId)) return "head";
    this.#weigh();
    return "all";
  }

  /** The card stands for a question about no tool. */
  takeQuestion(title: string): void {
    this.input = { complete: true, sensitive: false, title, kind: "other", locations: [] };
    this.#inputComplete = true;
  }

  /** Output piece number `seq`. */
  takeOutput(seq: number, text: string): Change {
    if (this.end !== undefined) return "nothing";
    this.output ??= new LiveOutput();
    if (this.#recorded) {
      this.output.skipTo(seq);
      this.#recorded = false;
    }
    if (!this.output.push(seq, text)) return "nothing";
    this.#work();
    return "all";
  }

  /** The newest word about how far it is. */
  takeProgress(message: string): Change {
    if (this.end !== undefined || this.progress === message) return "nothing";
    this.progress = message;
    this.#work();
    return "all";
  }

  /** The end as a frame tells it. A repetition of what is shown from the durable row changes nothing. */
  takeResult(status: ToolEnd, result: ToolResult | undefined, sha256: string | undefined): Change {
    if (this.stage === "authoritative" && (sha256 === undefined || sha256 === this.durable?.sha256)) {
      return "nothing";
    }
    if (sha256 !== undefined) this.announced = sha256;
    const ended = this.end !== undefined;
    this.end ??= endOf(status);
    if (result === undefined) return ended ? "nothing" : "all";
    // A late result without content of its own has nothing to correct.
    if (ended && result.content.length === 0 && result.diffs.length === 0) return "nothing";
    this.result = result;
    if (this.stage === "live") this.stage = "preview";
    this.#weigh();
    return "all";
  }

  /** What a row records. Only a complete row with a result ends the tool, and only one that was not announced differently. */
  takeRecord(
    record: ToolRecord,
    row: { readonly complete: boolean; readonly length: number; readonly sha256: string },
    now: number,
  ): Change {
    const final = row.complete && record.result !== undefined;
    if (final) {
      if (this.announced !== undefined && this.announced !== row.sha256) return "nothing";
      if (this.durable?.sha256 === row.sha256) return "nothing";
      this.durable = { length: row.length, sha256: row.sha256 };
    } else if (this.end !== undefined) {
      return "nothing";
    }
    this.parent ??= record.parent;
    if (final || !this.#inputComplete) {
      // A terminal that this Client was not told of live belongs to another Client, or to the past.
      const told = this.stage !== "live" || this.input !== undefined;
      this.input = told ? record.input : inputWithoutTerminals(record.input);
      this.meta ??= record.input.meta;
      if (record.input.complete) this.#completeInput(now);
    }
    this.#takeRecordedOutput(record.output);
    if (final && record.result !== undefined) {
      this.result = this.stage === "live" ? withoutTerminals(record.result) : record.result;
      this.end ??= endOf(record.result.status);
      this.stage = "authoritative";
    }
    this.#weigh();
    return "all";
  }

  /** A record too long to be read: it is there, and that is all that can be told. */
  takeOversize(
    row: { readonly complete: boolean; readonly length: number; readonly sha256: string },
  ): Change {
    if (!row.complete || (this.announced !== undefined && this.announced !== row.sha256)) return "nothing";
    this.durable = { length: row.length, sha256: row.sha256 };
    return this.interrupt(`The record of this tool is too large to show: ${row.length} characters`);
  }

  /** Ends a tool that has no end of its own. */
  interrupt(note: string): Change {
    if (this.end !== undefined) return "nothing";
    this.end = { status: "failed", note };
    return "all";
  }

  /** Lets go of everything that was only needed for showing it. */
  free(): void {
    this.input = undefined;
    this.output = undefined;
    this.progress = undefined;
    this.result = undefined;
    this.meta = undefined;
  }

  #takeRecordedOutput(output: ToolRecord["output"]): void {
    if (output === undefined || output.text.length + output.dropped <= (this.output?.total ?? 0)) return;
    this.output ??= new LiveOutput();
    this.output.replace(output.text, output.dropped);
    this.#recorded = true;
    this.#worksFrom = -Infinity;
  }

  #completeInput(now: number): void {
    const { status } = this.input ?? {};
    if (status === "in_progress") this.#worksFrom = -Infinity;
    else if (!this.#inputComplete && this.#worksFrom === Infinity && status === undefined) {
      this.#worksFrom = now + PENDING_MS;
    }
    this.#inputComplete = true;
  }

  #work(): void {
    this.#worksFrom = -Infinity;
    this.#weigh();
  }

  #weigh(): void {
    const live = (this.output?.length ?? 0) + (this.progress?.length ?? 0);
    const body = this.result ?? this.proposal;
    const settled = body === undefined ? 0 : lengthOf(body.content, body.diffs);
    this.weight = Math.max(this.weight, Math.min(LIMITS.cardLength, Math.max(live, settled)));
  }
}

/** UTF-16 units of text in a result; images are passed on and not kept, so they do not count. */
function lengthOf(content: readonly ToolContent[], diffs: readonly Diff[]): number {
  let length = 0;
  for (const part of content) {
    if (part.kind === "text" || part.kind === "resource") length += part.text?.length ?? 0;
  }
  for (const diff of diffs) length += (diff.oldText?.length ?? 0) + diff.newText.length;
  return length;
}

/** What an input shows, as far as it is text. */
export function wordsOf(shown: ToolInput["shown"]): string {
  const texts = shown?.content.map((part) => part.kind === "text" ? part.text : "") ?? [];
  return [...texts, ...shown?.diffs.map((diff) => diff.newText) ?? []].join("");
}

function withoutTerminals<T extends ToolBody>(body: T): T {
  if (!body.content.some((part) => part.kind === "terminal")) return body;
  return { ...body, content: body.content.filter((part) => part.kind !== "terminal") };
}

function inputWithoutTerminals(input: ToolInput): ToolInput {
  const { terminalId: _, ...rest } = input;
  return rest.shown === undefined ? rest : { ...rest, shown: withoutTerminals(rest.shown) };
}
