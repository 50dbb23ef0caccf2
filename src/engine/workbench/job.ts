import type { Answer, Question } from "../../model/question.ts";
import type { Channel } from "../../model/message.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { EngineContext, EngineOutcome, EngineSink } from "../contract.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { ToolInput, ToolResult } from "../../model/tool.ts";
import { Denial, ToolFailure } from "./failure.ts";
import { untilAborted } from "../waiting.ts";

/** The end of a Turn that did what it could. */
export const END_TURN: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

/** Ids that are unique in the Session, since no other Run has this prefix. */
export class RunIds {
  readonly #prefix: string;
  #count = 0;

  /** Counts from 1 behind the Run's own id. */
  constructor(runId: string) {
    this.#prefix = runId;
  }

  /** The next id. */
  next(): string {
    return `${this.#prefix}-${++this.#count}`;
  }
}

/** What a Job works with. */
export interface JobParts {
  readonly context: EngineContext;
  readonly services: () => ClientServices;
  readonly sink: EngineSink;
  /** Aborts when the Run is stopped and when the Session is closed. */
  readonly signal: AbortSignal;
  readonly ids: RunIds;
}

/** One Run at work: what every step has at hand. Nothing here outlasts the signal. */
export class Job {
  readonly context: EngineContext;
  readonly sink: EngineSink;
  readonly signal: AbortSignal;
  readonly ids: RunIds;
  readonly #services: () => ClientServices;

  /** Takes what the Host handed out. */
  constructor(parts: JobParts) {
    this.context = parts.context;
    this.sink = parts.sink;
    this.signal = parts.signal;
    this.ids = parts.ids;
    this.#services = parts.services;
  }

  /** What the presenting editor offers now. */
  services(): ClientServices {
    return this.#services();
  }

  /** Says a whole message. */
  async say(text: string, channel: Channel = "text"): Promise<void> {
    const id = this.ids.next();
    await this.sink.message(id, channel, text);
    await this.sink.messageComplete(id);
  }

  /** Asks a person; a stop ends the wait at once. */
  ask(question: Question): Promise<Answer> {
    return untilAborted(this.sink.ask(question), this.signal);
  }

  /** Calls the editor; a stop ends the wait at once. */
  call(method: string, params: JsonObject): Promise<Json> {
    return untilAborted(this.sink.call(method, params, this.signal), this.signal);
  }

  /**
   * Shows a tool from its start to its end. A {@linkcode ToolFailure} of `work` becomes a failed card and the Turn goes on; after a
   * {@linkcode Denial} the workbench says so and the Turn ends, because what follows may build on what was denied.
   */
  async tool(
    input: ToolInput,
    work: (toolCallId: string) => Promise<ToolResult>,
  ): Promise<EngineOutcome | undefined> {
    const toolCallId = this.ids.next();
    await this.sink.toolStart(toolCallId, input);
    try {
      await this.sink.toolResult(toolCallId, await work(toolCallId));
    } catch (error) {
      if (!(error instanceof ToolFailure) || this.signal.aborted) throw error;
      await this.sink.toolResult(toolCallId, {
        status: "failed",
        content: [{ kind: "text", text: error.message }],
        diffs: [],
      });
      if (!(error instanceof Denial)) return undefined;
      await this.say(`${error.message}. The workbench stops here.`);
      return END_TURN;
    }
    return undefined;
  }
}
