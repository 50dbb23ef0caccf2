import type { Answer, Question } from "../../src/model/question.ts";
import type { Block } from "../../src/model/block.ts";
import type { Channel } from "../../src/model/message.ts";
import type { Compaction } from "../../src/model/compaction.ts";
import type { EngineOutcome, EngineSink } from "../../src/engine/contract.ts";
import type { Json, JsonObject, Meta } from "../../src/model/json.ts";
import type { PlanEntry, Usage } from "../../src/model/plan.ts";
import type { ToolInput, ToolResult } from "../../src/model/tool.ts";

/** One call of an Engine to its sink, as plain data. */
export type Entry =
  | readonly ["message", id: string, channel: Channel, text: string, meta?: Meta]
  | readonly ["content", id: string, channel: Channel, block: Block, meta?: Meta]
  | readonly ["compaction", compaction: Compaction, append?: Block]
  | readonly ["messageComplete" | "messageReset", id: string]
  | readonly ["messageSuperseded", id: string, by: string]
  | readonly ["toolStart", id: string, input: ToolInput, parent?: string]
  | readonly ["toolInput", id: string, input: ToolInput]
  | readonly ["toolOutput", id: string, stream: "stdout" | "stderr", text: string]
  | readonly ["toolProgress", id: string, message: string]
  | readonly ["toolResult", id: string, result: ToolResult]
  | readonly ["plan", entries: readonly PlanEntry[], meta?: Meta]
  | readonly ["usage", usage: Usage]
  | readonly ["notice", severity: string, title: string, text?: string, meta?: Meta]
  | readonly ["ask", question: Question]
  | readonly ["call", method: string, params: JsonObject]
  | readonly ["background"];

/** The entries of one kind. */
export type EntryOf<N extends Entry[0]> = Extract<Entry, readonly [N, ...unknown[]]>;

/** What stands behind a {@linkcode RecordingSink}. A person or an editor that is absent never answers. */
export interface SinkParts {
  /** The Turn's signal; calls after its abort are ignored as the contract says. */
  readonly signal?: AbortSignal;
  readonly person?: (question: Question) => Answer | Promise<Answer>;
  readonly editor?: (method: string, params: JsonObject) => Json | Promise<Json>;
}

/** Methods that a stopped Turn may still call. */
const FREEING: readonly string[] = ["terminal/kill", "terminal/release"];

/** An {@linkcode EngineSink} that writes down what it is given, in order, and lets tests wait for it. */
export class RecordingSink implements EngineSink {
  readonly entries: Entry[] = [];
  /** Questions that were taken back. */
  withdrawn = 0;
  /** How the background Runs end, in the order of their opening. */
  readonly backgrounds: { readonly sink: RecordingSink; readonly outcome: Promise<EngineOutcome> }[] = [];
  readonly #parts: SinkParts;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<{ readonly fits: (entry: Entry) => boolean; readonly resolve: () => void }>();

  constructor(parts: SinkParts = {}) {
    this.#parts = parts;
    this.#signal = parts.signal ?? new AbortController().signal;
  }

  /** All entries of a kind. */
  all<N extends Entry[0]>(name: N): EntryOf<N>[] {
    return this.entries.filter((entry): entry is EntryOf<N> => entry[0] === name);
  }

  /** What was said in a channel, all messages in a row. */
  said(channel: Channel = "text"): string {
    return this.all("message").filter((entry) => entry[2] === channel).map((entry) => entry[3]).join("");
  }

  /** The kinds of the entries in order; each in a row of equal ones counts once. */
  order(): string[] {
    const names: string[] = this.entries.map(([name, detail]) => name === "call" ? `call ${detail}` : name);
    return names.filter((name, index) => name !== names[index - 1]);
  }

  /** Resolves at the first entry that fits, or at once where there is one. */
  when(fits: (entry: Entry) => boolean): Promise<void> {
    if (this.entries.some(fits)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add({ fits, resolve });
    return promise;
  }

  message(id: string, channel: Channel, text: string, meta?: Meta): Promise<void> {
    return this.#take(
      meta === undefined ? ["message", id, channel, text] : ["message", id, channel, text, meta],
    );
  }

  content(id: string, channel: Channel, block: Block, meta?: Meta): Promise<void> {
    return this.#take(
      meta === undefined ? ["content", id, channel, block] : ["content", id, channel, block, meta],
    );
  }

  compaction(compaction: Compaction, append?: Block): Promise<void> {
    return this.#take(append === undefined ? ["compaction", compaction] : ["compaction", compaction, append]);
  }

  messageComplete(id: string): Promise<void> {
    return this.#take(["messageComplete", id]);
  }

  messageReset(id: string): Promise<void> {
    return this.#take(["messageReset", id]);
  }

  messageSuperseded(id: string, by: string): Promise<void> {
    return this.#take(["messageSuperseded", id, by]);
  }

  toolStart(id: string, input: ToolInput, parent?: string): Promise<void> {
    return this.#take(parent === undefined ? ["toolStart", id, input] : ["toolStart", id, input, parent]);
  }

  toolInput(id: string, input: ToolInput): Promise<void> {
    return this.#take(["toolInput", id, input]);
  }

  toolOutput(id: string, stream: "stdout" | "stderr", text: string): Promise<void> {
    return this.#take(["toolOutput", id, stream, text]);
  }

  toolProgress(id: string, message: string): Promise<void> {
    return this.#take(["toolProgress", id, message]);
  }

  toolResult(id: string, result: ToolResult): Promise<void> {
    return this.#take(["toolResult", id, result]);
  }

  plan(entries: readonly PlanEntry[], meta?: Meta): Promise<void> {
    return this.#take(meta === undefined ? ["plan", entries] : ["plan", entries, meta]);
  }

  usage(usage: Usage): Promise<void> {
    return this.#take(["usage", usage]);
  }

  notice(severity: "info" | "warning" | "error", title: string, text?: string, meta?: Meta): Promise<void> {
    if (meta !== undefined) return this.#take(["notice", severity, title, text, meta]);
    return this.#take(text === undefined ? ["notice", severity, title] : ["notice", severity, title, text]);
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    this.#signal.throwIfAborted();
    await this.#take(["ask", question]);
    signal?.addEventListener("abort", () => void this.withdrawn++, { once: true });
    const ends = signal === undefined ? this.#signal : AbortSignal.any([signal, this.#signal]);
    return await this.#answer(this.#parts.person?.(question), ends);
  }

  async call(method: string, params: JsonObject, signal?: AbortSignal): Promise<Json> {
    signal?.throwIfAborted();
    if (FREEING.includes(method)) this.#record(["call", method, params]);
    else await this.#take(["call", method, params]);
    return await this.#answer(this.#parts.editor?.(method, params), signal);
  }

  background(work: (sink: EngineSink, signal: AbortSignal) => Promise<EngineOutcome>): Promise<string> {
    this.#record(["background"]);
    const sink = new RecordingSink({ ...this.#parts, signal: undefined });
    const outcome = work(sink, new AbortController().signal);
    // Whoever looks at the outcome sees a failure; whoever does not, need not.
    outcome.catch(() => {});
    return Promise.resolve(`background-${this.backgrounds.push({ sink, outcome })}`);
  }

  #take(entry: Entry): Promise<void> {
    if (!this.#signal.aborted) this.#record(entry);
    return Promise.resolve();
  }

  #record(entry: Entry): void {
    this.entries.push(entry);
    for (const waiting of this.#waiting) {
      if (!waiting.fits(entry)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  #answer<T>(answer: T | Promise<T> | undefined, signal: AbortSignal | undefined): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (answer !== undefined) Promise.resolve(answer).then(resolve, reject);
    return promise;
  }
}
