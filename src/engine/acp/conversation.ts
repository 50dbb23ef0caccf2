import type { Agent } from "./agent.ts";
import { AgentFailure } from "./failure.ts";
import { AgentTurn } from "./turn.ts";
import { atMost, pause, untilAborted } from "../waiting.ts";
import type { ClientServices } from "../../host/contract.ts";
import { commandsOf, kindOf, usageOf } from "./updates.ts";
import type { ConfigOption } from "../../model/config.ts";
import type { EngineContext, EngineOutcome, EngineSink, EngineTurn } from "../contract.ts";
import type { EnginePast, PastTurn } from "../archive.ts";
import type { Hello } from "./hello.ts";
import type { JsonObject, Meta } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import { metaOf, recordOf } from "./shape.ts";
import { LateTurn } from "./late.ts";
import { Past } from "./past.ts";
import { Requests } from "./requests.ts";
import { OwnTerminals } from "./terminals.ts";
import type { Seat } from "./seats.ts";
import { Settings } from "./options.ts";
import type { StopReason } from "../../model/run.ts";
import type { UsedIds } from "./voices.ts";

/** A prompt on its way to the agent. */
export interface Errand {
  readonly turn: EngineTurn;
  readonly sink: EngineSink;
  readonly signal: AbortSignal;
  readonly blocks: readonly JsonObject[];
}

/** Milliseconds that a stopped Turn stays for the agent to clean up at the editor; less than the Host leaves it. */
const FAREWELL_MS = 250;
/** Milliseconds of silence that end a history, and those after which it is not waited for any more. */
const REPLAY_MS = 150;
const REPLAY_MOST_MS = 10_000;
/** Milliseconds for the answer to a cancelled prompt, past which the agent is replaced. */
const CANCEL_MS = 5000;

const STOP_REASONS: readonly string[] = [
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
] satisfies readonly StopReason[];

/** What is past is not stopped, and nobody shows it. */
const NEVER: AbortSignal = new AbortController().signal;
const NO_SERVICES: ClientServices = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
};

/** One Session of one running agent, from its opening on. */
export class Conversation implements Seat {
  readonly agent: Agent;
  readonly hello: Hello;
  /** What the agent calls it. */
  readonly sessionId: string;
  readonly settings: Settings = new Settings();
  /** The folders and MCP servers that it was opened with, to compare. */
  readonly bound: string;
  /** Ids of messages and tools that this Session has had. */
  readonly used: UsedIds;
  /** Whether the agent is still to be told what was said before. */
  owes: "recap" | "nothing" = "nothing";
  readonly #requests: Requests;
  readonly #terminals = new OwnTerminals(() => this.#use === "used");
  #context: EngineContext;
  /** Whether the Host has it open: while it rests nothing is done here for the agent. */
  #use: "used" | "resting" = "used";
  #turn: AgentTurn | undefined;
  /** What the agent says beside prompts. */
  #late: LateTurn | undefined;
  /** The one that said something last, whether it takes more or not. */
  #saying: LateTurn | undefined;
  /** Whether the last prompt was stopped: what comes behind it belongs to what nobody wants any more. */
  #last: "answered" | "stopped" = "answered";
  /** Settles when a stopped prompt was answered, or the agent was given up for not answering. */
  #owed: Promise<void> | undefined;
  #mode: "replaying" | "live" = "replaying";
  /** Updates of history so far. */
  #replayed = 0;
  /** Where history goes that the Host does not have. */
  readonly #past: Past | undefined;

  /**
   * Takes its seat. Without `opened` what comes before {@linkcode live} is history, which goes to `past` or, without that, is what the
   * Host has.
   */
  constructor(parts: {
    agent: Agent;
    hello: Hello;
    sessionId: string;
    bound: string;
    context: EngineContext;
    used: UsedIds;
    opened?: JsonObject;
    past?: EnginePast;
  }) {
    this.used = parts.used;
    this.agent = parts.agent;
    this.hello = parts.hello;
    this.sessionId = parts.sessionId;
    this.bound = parts.bound;
    this.#context = parts.context;
    if (parts.opened !== undefined) this.live(parts.opened);
    this.#past = parts.past && new Past(parts.past, (turn) => this.#retell(turn));
    this.#requests = new Requests({
      context: () => this.context,
      used: () => this.#use === "used",
      turn: () => this.#turn,
      terminals: this.#terminals,
      faults: this.agent.faults,
    });
    this.agent.seats.take(this.sessionId, this);
  }

  /** Whose Session it is; another one after the Host opened it anew. */
  get context(): EngineContext {
    return this.#context;
  }

  /** Whether a Turn can be had here: the agent serves, and its Session was not opened a second time beside this. */
  get serving(): boolean {
    return this.agent.state === "serving" && this.agent.seats.of(this.sessionId) === this;
  }

  /** Resolves when the Host has the history that came so far. */
  async told(): Promise<void> {
    await this.#past?.end();
  }

  /** The answer to its opening came. */
  live(opened: JsonObject): void {
    this.#mode = "live";
    this.settings.opened(opened);
  }

  /** Tells the agent which values are wanted. Rejects where it refuses one; those before it are set. */
  async set(wanted: readonly ConfigOption[], meta?: Meta): Promise<void> {
    for (const option of wanted) {
      const setting = this.settings.change(option, this.sessionId);
      if (setting === undefined) continue;
      const params = { ...setting.params, ...(meta !== undefined && { _meta: meta }) };
      const answer = await this.agent.request(setting.method, params, `set "${option.name}"`);
      this.settings.changed(option, answer);
    }
  }

  /** Resolves when no stopped prompt is waited for any more; the agent may have been given up for it. */
  async quiet(): Promise<void> {
    await this.#owed;
  }

  /** Sends a prompt and passes on what the agent does until it answers. One at a time, and only while it is quiet. */
  async prompt({ turn, sink, signal, blocks }: Errand): Promise<EngineOutcome> {
    signal.throwIfAborted();
    const { agent, sessionId } = this;
    const work = new AgentTurn({
      turn,
      sink,
      signal,
      faults: agent.faults,
      used: this.used,
      terminals: this.#terminals,
    });
    this.#late?.end();
    this.#turn = work;
    this.#last = "answered";
    const rest = agent.work();
    const asked = agent.request("session/prompt", {
      sessionId,
      prompt: blocks,
      ...(turn.input.meta !== undefined && { _meta: turn.input.meta }),
    }, "answer");
    asked.catch(() => {});
    const stop = () => {
      this.#last = "stopped";
      void agent.notify("session/cancel", { sessionId });
      this.#owed = this.#settle(asked).finally(() => this.#owed = undefined);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      const answer = await untilAborted(asked, signal);
      await work.drained();
      return this.#outcomeOf(answer);
    } catch (error) {
      if (signal.aborted) await atMost(FAREWELL_MS, asked);
      else await work.drained();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      work.close();
      this.#turn = undefined;
      if (this.#owed === undefined) rest();
      else void this.#owed.finally(rest);
      // Where that fails an id may come twice, which is no reason to fail what was done.
      if (this.used.changed) await this.remember().catch(() => {});
    }
  }

  /** Has the Host keep what the next opening has to know. */
  async remember(): Promise<void> {
    const used = this.used.counted();
    await this.context.state({
      sessionId: this.sessionId,
      ...(this.owes === "recap" && { recap: "owed" }),
      ...(used.length > 0 && { used: [...used] }),
    }, this.sessionId);
  }

  /**
   * Resolves when the history that a load brings has come: some agents go on with it behind their answer, so that only silence tells.
   */
  async replayed(): Promise<void> {
    for (let waited = 0; waited < REPLAY_MOST_MS; waited += REPLAY_MS) {
      const before = this.#replayed;
      await pause(REPLAY_MS, this.agent.over).catch(() => {});
      if (this.#replayed === before || this.agent.over.aborted) return;
    }
  }

  update(update: JsonObject): void {
    const kind = kindOf(update);
    switch (kind) {
      case undefined:
        return this.agent.faults.count("unknown");
      case "echo":
        return this.#mode === "replaying" ? this.#replay(update) : undefined;
      case "session":
        return this.#tell(update);
      case "turn":
        if (this.#mode === "replaying") return this.#replay(update);
        if (this.#turn?.open) return this.#turn.push(update);
        return this.#beside(update);
    }
  }

  /** History that the Host has, and names that cannot be given anew; or history that it is told. */
  #replay(update: JsonObject): void {
    this.#replayed++;
    if (this.#past !== undefined) return this.#past.push(update);
    const { toolCallId, messageId } = update;
    for (const id of [toolCallId, messageId]) if (typeof id === "string") this.used.take(id);
  }

  /** Shows what belongs to no prompt. */
  #beside(update: JsonObject): void {
    const { context, agent: { faults } } = this;
    if (update.sessionUpdate === "usage_update") {
      const usage = usageOf(update);
      if (usage === undefined) return faults.count("malformed");
      return void context.usage(usage).catch(() => faults.count("malformed"));
    }
    if (this.#last === "stopped") return faults.count("idle");
    faults.count("late");
    this.#late ??= this.#saying = new LateTurn({
      after: this.#saying?.done ?? Promise.resolve(),
      context,
      faults,
      used: this.used,
      terminals: this.#terminals,
      over: () => this.#late = undefined,
    });
    this.#late.push(update);
  }

  /** Gives words to the prompt at work. False where the agent does not take them. */
  async steer(turnId: string, blocks: readonly JsonObject[], meta: Meta | undefined): Promise<boolean> {
    const { steering } = this.hello;
    if (steering === undefined || this.#turn?.open !== true || this.#turn.turn.turnId !== turnId) {
      return false;
    }
    const { sessionId } = this;
    const params = { sessionId, prompt: blocks, ...(meta !== undefined && { _meta: meta }) };
    const { taken } = await this.agent.request(steering, params, "take words while it works");
    return taken !== false;
  }

  answered(): void {
    this.#turn?.answered();
  }

  room(): Promise<void> | undefined {
    return this.#turn?.room() ?? this.#late?.room() ?? this.#past?.room();
  }

  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    return this.#requests.answer(method, params, signal);
  }

  completed(params: JsonObject): boolean {
    return this.#requests.completed(params);
  }

  /** The Host opened the Session anew. */
  rejoin(context: EngineContext): void {
    this.#context = context;
    this.#use = "used";
  }

  fallen(): void {
    this.rest();
  }

  /** Nobody uses it for now: what it began ends. */
  rest(): void {
    this.#use = "resting";
    this.#late?.end();
    this.#terminals.close();
  }

  /** Gives the Session up; the agent frees it where it can take it up again. */
  async end(): Promise<void> {
    this.rest();
    const closes = this.serving && this.hello.close;
    this.agent.seats.leave(this.sessionId, this);
    if (closes) {
      await this.agent.request("session/close", { sessionId: this.sessionId }, "close a Session").catch(
        () => {},
      );
    }
  }

  #retell({ runId, sink }: PastTurn): AgentTurn {
    const turn = { turnId: runId, runId, input: { parts: [] }, services: () => NO_SERVICES };
    const { agent: { faults }, used } = this;
    return new AgentTurn({ turn, sink, signal: NEVER, faults, used, terminals: this.#terminals });
  }

  #tell(update: JsonObject): void {
    const { context, settings } = this;
    const told = (saying: Promise<void>) => void saying.catch(() => this.agent.faults.count("malformed"));
    switch (update.sessionUpdate) {
      case "available_commands_update":
        return told(context.commands(commandsOf(update.availableCommands), metaOf(update._meta)));
      case "session_info_update":
        return typeof update.title === "string"
          ? told(context.title(update.title, metaOf(update._meta)))
          : undefined;
      case "config_option_update":
        settings.replaced(update.configOptions);
        return told(context.configured(settings.list(), { options: metaOf(update._meta) }));
      case "current_mode_update":
        if (!settings.moded(update.currentModeId)) return this.agent.faults.count("malformed");
        return told(context.configured(settings.list(), { mode: metaOf(update._meta) }));
    }
  }

  /** Waits for the answer to a stopped prompt. An agent that does not give it is not to be trusted with another one. */
  async #settle(asked: Promise<unknown>): Promise<void> {
    const late = new AbortController();
    const answered = asked.then(() => "answered", () => "answered");
    const waited = pause(CANCEL_MS, late.signal).then(() => "late", () => "answered");
    const how = await Promise.race([answered, waited]);
    late.abort();
    if (how === "answered") return;
    this.agent.faults.count("deaf");
    this.agent.retire();
  }

  #outcomeOf(answer: JsonObject): EngineOutcome {
    const { stopReason, _meta } = answer;
    const meta = recordOf(_meta);
    const passes = Object.keys(meta).length > 0 && JSON.stringify(meta).length <= LIMITS.metaBytes;
    if (stopReason === "cancelled") {
      this.agent.faults.count("own_cancel");
      return {
        kind: "completed",
        stopReason: "end_turn",
        meta: { ...(passes && meta), gangway: { stopReason: "cancelled" } },
      };
    }
    if (typeof stopReason === "string" && STOP_REASONS.includes(stopReason)) {
      return { kind: "completed", stopReason: stopReason as StopReason, ...(passes && { meta }) };
    }
    this.agent.faults.count("malformed");
    throw new AgentFailure("engine", "The agent ended the Turn without a reason that the protocol knows");
  }
}
