import type { Answer, Question } from "../../model/question.ts";
import type { Block } from "../../model/block.ts";
import type { Channel } from "../../model/message.ts";
import type { Compaction } from "../../model/compaction.ts";
import type { EngineOutcome, EngineSink } from "../../engine/contract.ts";
import type { Json, JsonObject, Meta } from "../../model/json.ts";
import type { Log } from "../../model/log.ts";
import type { PlanEntry, Usage } from "../../model/plan.ts";
import type { ToolInput, ToolResult } from "../../model/tool.ts";
import type { ActiveRun } from "./active_run.ts";
import type { Journal } from "./journal.ts";
import type { Pace } from "./pace.ts";
import type { Patience } from "./patience.ts";

/** The work of a background Run. */
export type BackgroundWork = (sink: EngineSink, signal: AbortSignal) => Promise<EngineOutcome>;

/** What sinks of a Session lead to. */
export interface SinkParts {
  readonly journal: Journal;
  readonly pace: Pace;
  readonly patience: Patience;
  readonly log: Log;
  readonly usage: (usage: Usage) => void;
  readonly ask: (run: ActiveRun, question: Question, signal?: AbortSignal) => Promise<Answer>;
  readonly call: (run: ActiveRun, method: string, params: JsonObject, signal?: AbortSignal) => Promise<Json>;
  readonly background: (parent: ActiveRun, work: BackgroundWork) => Promise<string>;
}

const DONE: Promise<void> = Promise.resolve();

/**
 * One Run's sink. What a fenced Run says is dropped; what makes no sense is dropped and noted, because an Engine's fault must not
 * become the Host's. No promise that it hands out can end the process when the Engine ignores it.
 */
export class RunSink implements EngineSink {
  readonly #run: ActiveRun;
  readonly #parts: SinkParts;

  constructor(run: ActiveRun, parts: SinkParts) {
    this.#run = run;
    this.#parts = parts;
  }

  message(messageId: string, channel: Channel, text: string, meta?: Meta): Promise<void> {
    const run = this.#run;
    if (!run.taking) return DONE;
    try {
      run.transcript.messages.say(messageId, channel, text, meta);
    } catch (error) {
      return this.#senseless("message", error);
    }
    return this.#taken(text.length);
  }

  content(contentId: string, channel: Channel, block: Block, meta?: Meta): Promise<void> {
    return this.#say("content", () => this.#run.transcript.messages.content(contentId, channel, block, meta));
  }

  messageComplete(messageId: string): Promise<void> {
    return this.#say("messageComplete", () => this.#run.transcript.messages.complete(messageId));
  }

  messageReset(messageId: string): Promise<void> {
    return this.#say("messageReset", () => this.#run.transcript.messages.reset(messageId));
  }

  messageSuperseded(messageId: string, by: string): Promise<void> {
    return this.#say("messageSuperseded", () => this.#run.transcript.messages.supersede(messageId, by));
  }

  toolStart(toolCallId: string, input: ToolInput, parent?: string): Promise<void> {
    return this.#say("toolStart", () => this.#run.transcript.tools.start(toolCallId, input, parent));
  }

  toolInput(toolCallId: string, input: ToolInput): Promise<void> {
    return this.#say("toolInput", () => this.#run.transcript.tools.input(toolCallId, input));
  }

  toolOutput(toolCallId: string, stream: "stdout" | "stderr", text: string): Promise<void> {
    const run = this.#run;
    if (!run.taking) return DONE;
    try {
      run.transcript.tools.output(toolCallId, stream, text);
    } catch (error) {
      return this.#senseless("toolOutput", error);
    }
    return this.#taken(text.length);
  }

  toolProgress(toolCallId: string, message: string): Promise<void> {
    return this.#say("toolProgress", () => this.#run.transcript.tools.progress(toolCallId, message));
  }

  toolResult(toolCallId: string, result: ToolResult): Promise<void> {
    return this.#say("toolResult", () => this.#run.transcript.tools.result(toolCallId, result));
  }

  plan(entries: readonly PlanEntry[], meta?: Meta): Promise<void> {
    return this.#say("plan", () => this.#run.transcript.plan(entries, meta));
  }

  usage(usage: Usage): Promise<void> {
    return this.#say("usage", () => this.#parts.usage(usage));
  }

  notice(severity: "info" | "warning" | "error", title: string, text?: string, meta?: Meta): Promise<void> {
    return this.#say("notice", () => this.#run.transcript.notice({ severity, title, text, meta }));
  }

  compaction(compaction: Compaction, append?: Block): Promise<void> {
    return this.#say("compaction", () => this.#run.transcript.compaction(compaction, append));
  }

  ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    return observed(async () => {
      const answer = await this.#parts.ask(this.#run, question, signal);
      // One that a Grant gave came without any wait.
      await this.#parts.pace.take(0);
      return answer;
    });
  }

  call(method: string, params: JsonObject, signal?: AbortSignal): Promise<Json> {
    return observed(() => this.#parts.call(this.#run, method, params, signal));
  }

  background(work: BackgroundWork): Promise<string> {
    return observed(() => this.#parts.background(this.#run, work));
  }

  #say(what: string, act: () => void): Promise<void> {
    if (!this.#run.taking) return DONE;
    try {
      act();
    } catch (error) {
      return this.#senseless(what, error);
    }
    return this.#taken(0);
  }

  #taken(units: number): Promise<void> {
    const { journal, patience, pace } = this.#parts;
    return journal.overdue() ?? patience.wait(this.#run.signal) ?? pace.take(units);
  }

  #senseless(what: string, error: unknown): Promise<void> {
    this.#parts.log.warn("The agent said something that makes no sense", {
      turnId: this.#run.key.turnId,
      what,
      error: String(error),
    });
    return DONE;
  }
}

/** Starts something and gives its promise, whose rejection does no harm where nobody waits for it. */
function observed<T>(act: () => Promise<T>): Promise<T> {
  const promise = (async () => await act())();
  promise.catch(() => {});
  return promise;
}
