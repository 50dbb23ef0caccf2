import type { EngineSink, EngineTurn } from "../contract.ts";
import type { Faults } from "./faults.ts";
import { blockOf } from "./content.ts";
import { Compactions } from "./compactions.ts";
import type { JsonObject } from "../../model/json.ts";
import { planOf, usageOf } from "./updates.ts";
import { metaOf, textOf } from "./shape.ts";
import type { OwnTerminals } from "./terminals.ts";
import { Tools } from "./tools.ts";
import { type UsedIds, Voices } from "./voices.ts";

/** What an {@linkcode AgentTurn} works with. */
export interface TurnParts {
  readonly turn: EngineTurn;
  readonly sink: EngineSink;
  /** Aborts when the Turn is stopped. */
  readonly signal: AbortSignal;
  readonly faults: Faults;
  readonly used: UsedIds;
  readonly terminals: OwnTerminals;
}

/** Updates that wait for the Host, above which nothing more is read of the agent. */
const WAITING = 512;

/** One Turn of an agent's Session: takes updates as they come and gives them to the Host in order, at the Host's pace. */
export class AgentTurn {
  readonly turn: EngineTurn;
  readonly sink: EngineSink;
  readonly signal: AbortSignal;
  readonly tools: Tools;
  readonly #voices: Voices;
  readonly #compactions: Compactions;
  readonly #faults: Faults;
  #queue: JsonObject[] = [];
  #pumping: Promise<void> | undefined;
  /** Whether the prompt was answered: what comes then is late. */
  #state: "open" | "answered" = "open";

  /** Begins a Turn. */
  constructor(parts: TurnParts) {
    this.turn = parts.turn;
    this.sink = parts.sink;
    this.signal = parts.signal;
    this.#faults = parts.faults;
    const names = { sink: parts.sink, faults: parts.faults, used: parts.used, prefix: parts.turn.runId };
    this.tools = new Tools({ ...names, terminals: parts.terminals });
    this.#voices = new Voices(names);
    this.#compactions = new Compactions(names);
  }

  /** Takes an update that belongs to a Turn. */
  push(update: JsonObject): void {
    if (this.#state === "answered") return this.#faults.count("late");
    this.#queue.push(update);
    if (this.#pumping !== undefined) return;
    this.#pumping = this.#pump();
    // Whoever waits for it is told; until then it stays as it is, so that nothing more is taken.
    this.#pumping.catch(() => {});
  }

  /** Whether what comes now belongs to it. */
  get open(): boolean {
    return this.#state === "open";
  }

  /** The prompt was answered. */
  answered(): void {
    this.#state = "answered";
  }

  /** Undefined while the Host keeps up. */
  room(): Promise<void> | undefined {
    return this.#queue.length < WAITING ? undefined : this.#pumping;
  }

  /** Resolves when the Host has everything that came so far. */
  async drained(): Promise<void> {
    await this.#pumping;
  }

  /** The Turn is over: nothing counts any more. */
  close(): void {
    this.#state = "answered";
    this.#queue = [];
    this.tools.close();
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      for (const update of batch) await this.#take(update);
    }
    this.#pumping = undefined;
  }

  async #take(update: JsonObject): Promise<void> {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return await this.#say("text", update);
      case "agent_thought_chunk":
        return await this.#say("thinking", update);
      case "tool_call":
      case "tool_call_update":
        // News of a tool that is shown already is no break in what is said.
        if (this.tools.idOf(String(update.toolCallId)) === undefined) await this.#voices.pause();
        return await this.tools.take(update);
      case "plan":
        return await this.sink.plan(planOf(update.entries), metaOf(update._meta));
      case "usage_update": {
        const usage = usageOf(update);
        return usage === undefined ? this.#faults.count("malformed") : await this.sink.usage(usage);
      }
      case "notice": {
        const { severity, title, description } = update;
        if (typeof title !== "string" || title === "") return this.#faults.count("malformed");
        const known = severity === "warning" || severity === "error" ? severity : "info";
        return await this.sink.notice(known, title, textOf(description), metaOf(update._meta));
      }
      case "compaction_update":
        return await this.#compactions.update(update);
      case "compaction_summary_chunk":
        return await this.#compactions.chunk(update);
    }
  }

  async #say(channel: "text" | "thinking", { content, messageId, _meta }: JsonObject): Promise<void> {
    const block = blockOf(content);
    if (block === undefined) return this.#faults.count("malformed");
    const [id, meta] = [textOf(messageId), metaOf(_meta)];
    if (block.kind !== "text" || block.meta !== undefined || block.annotations !== undefined) {
      return await this.#voices.show(id, channel, block, meta);
    }
    if (block.text !== "") await this.#voices.say(id, channel, block.text, meta);
  }
}
