import { AgentFailure, failureOf } from "./failure.ts";
import { blocksOf } from "./prompt.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { Config } from "../../model/config.ts";
import type { Errand } from "./conversation.ts";
import type {
  EngineContext,
  EngineOutcome,
  EngineSession,
  EngineSink,
  EngineTurn,
  ExtensionInlet,
} from "../contract.ts";
import type { Keeper } from "./keeper.ts";
import type { Lobby, Opened } from "./lobby.ts";
import type { Meta } from "../../model/json.ts";
import { sessionExtensions } from "./extensions.ts";
import type { TurnInput } from "../../model/prompt.ts";
import { untilAborted } from "../waiting.ts";

/** A stopped Turn's outcome, which the Host ignores. */
const STOPPED: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

/** What all Sessions of an Engine share. */
export interface SessionParts {
  readonly keeper: Keeper;
  readonly lobby: Lobby;
}

/** A Session of the Host with an agent behind it, which is started when something of it is wanted. */
export class AgentSession implements EngineSession {
  readonly extensions: ExtensionInlet;
  readonly #context: EngineContext;
  readonly #parts: SessionParts;
  readonly #closing = new AbortController();
  #opened: Promise<Opened> | undefined;
  /** Who wants the agent's Session waits for the one before, so that it is opened once. */
  #wanted: Promise<unknown> = Promise.resolve();

  /** Starts nothing yet. `opened` is what the agent has open already. */
  constructor(context: EngineContext, parts: SessionParts, opened?: Opened) {
    this.#context = context;
    this.#parts = parts;
    this.extensions = sessionExtensions(async (client, signal) =>
      (await this.#conversation(client, AbortSignal.any([signal, this.#closing.signal]))).conversation
    );
    this.#opened = opened && Promise.resolve(opened);
  }

  async run(turn: EngineTurn, sink: EngineSink, stop: AbortSignal): Promise<EngineOutcome> {
    const signal = AbortSignal.any([stop, this.#closing.signal]);
    try {
      const opened = await this.#conversation(turn.services(), signal);
      const { conversation, briefing } = opened;
      await briefing.tell(sink);
      const { blocks, degraded } = await blocksOf(
        turn.input,
        conversation.hello.prompt,
        this.#context,
        signal,
      );
      for (const each of degraded) {
        await sink.notice("warning", "The agent got a link instead of the content", each);
      }
      const { recap } = briefing;
      if (recap === undefined) return await conversation.prompt({ turn, sink, signal, blocks });
      return await this.#brief(opened, { turn, sink, signal, blocks: [recap, ...blocks] });
    } catch (error) {
      return signal.aborted ? STOPPED : { kind: "failed", failure: failureOf(error) };
    }
  }

  async configure(config: Config, meta?: Meta): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    // What is not running yet is told when it begins.
    if (opened === undefined || !opened.conversation.serving) return;
    const { conversation } = opened;
    try {
      await conversation.set(config.options, meta);
    } finally {
      await this.#context.configured(conversation.settings.list());
    }
  }

  /** Passes words on to an agent that takes them while it works. */
  async steer(turnId: string, input: TurnInput): Promise<boolean> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened === undefined || !opened.conversation.serving) return false;
    const { conversation } = opened;
    const { signal } = this.#closing;
    try {
      const { blocks } = await blocksOf(input, conversation.hello.prompt, this.#context, signal);
      return await conversation.steer(turnId, blocks, input.meta);
    } catch (error) {
      // Words that it refuses wait for their turn.
      if (error instanceof AgentFailure) return false;
      throw error;
    }
  }

  /** Stops what runs. The agent's Session is left in order behind it: an agent may take its time to answer. */
  close(): Promise<void> {
    this.#closing.abort(new AgentFailure("engine_gone", "The Session was closed"));
    this.#opened?.then(({ conversation }) => {
      conversation.rest();
      this.#parts.lobby.leave(this.#context, conversation);
    }).catch(() => {});
    return Promise.resolve();
  }

  /** A prompt that a recap comes with. An agent that answered with an error, or fell, may not have taken it in. */
  async #brief(opened: Opened, errand: Errand): Promise<EngineOutcome> {
    const { conversation } = opened;
    const { signal } = errand;
    signal.throwIfAborted();
    try {
      const outcome = await conversation.prompt(errand);
      await this.#parts.lobby.heard(opened);
      return outcome;
    } catch (error) {
      if (signal.aborted && conversation.serving) await this.#parts.lobby.heard(opened);
      throw error;
    }
  }

  #conversation(services: ClientServices, signal: AbortSignal): Promise<Opened> {
    const found = this.#wanted.then(() => this.#find(services, signal));
    this.#wanted = found.catch(() => {});
    return untilAborted(found, signal);
  }

  async #find(services: ClientServices, signal: AbortSignal): Promise<Opened> {
    signal.throwIfAborted();
    const { keeper, lobby } = this.#parts;
    keeper.outgrow(services);
    const present = await this.#opened?.catch(() => undefined);
    if (present !== undefined) await untilAborted(present.conversation.quiet(), signal);
    if (present?.conversation.serving) return present;
    const ready = await untilAborted(keeper.ready(services), signal);
    // Goes on behind a stop, so that nothing is opened twice.
    this.#opened = lobby.open(ready, this.#context, present);
    this.#opened.catch(() => {});
    return await untilAborted(this.#opened, signal);
  }
}
