import { Agent, type AgentParts } from "./agent.ts";
import { AgentFailure } from "./failure.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { Hello } from "./hello.ts";
import { pause } from "../waiting.ts";

/** An agent that has said hello. */
export interface Ready {
  readonly agent: Agent;
  readonly hello: Hello;
}

/** What a {@linkcode Keeper} works with. */
export interface KeeperParts extends Omit<AgentParts, "services"> {
  /** Is told what an agent said in its handshake, and what of its editor it was told before that. */
  readonly met?: (hello: Hello, services: ClientServices) => void;
}

/** Milliseconds before the second start in a row that failed, doubled for each further one, and at most. */
const BACKOFF_MS = 250;
const BACKOFF_MOST_MS = 10_000;
/** Milliseconds of life after which an agent that ended is started again at once. */
const STEADY_MS = 30_000;

const NO_SERVICES: ClientServices = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
};

/** Keeps one agent running for many Sessions: started when it is first needed, and again after it ended. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #agents = new Set<Agent>();
  readonly #closing = new AbortController();
  /** `scout`: it was started before it was known what editors offer. */
  #current: { readonly agent: Agent; readonly ready: Promise<Ready>; readonly scout: boolean } | undefined;
  #starting: Promise<Ready> | undefined;
  /** What an editor offers, as heard last. */
  #known: ClientServices | undefined;
  #last: Agent | undefined;
  /** Ends in a row that came too soon. */
  #failures = 0;

  /** Starts nothing yet. */
  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /**
   * The agent that serves now, after its handshake; one is started if need be. `services` are those that a new one is told of, where they
   * are known. Rejects with an {@linkcode AgentFailure}; the next call tries again, after a while where it failed before.
   */
  ready(services: ClientServices | undefined): Promise<Ready> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    if (services !== undefined) {
      this.#known = services;
      this.outgrow(services);
    }
    if (this.#current?.agent.state === "serving") return this.#current.ready;
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#start().finally(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return this.#starting = starting;
  }

  /** The agent that serves now, where there is one. Starts nothing. */
  get present(): Promise<Ready> | undefined {
    return this.#current?.agent.state === "serving" ? this.#current.ready : undefined;
  }

  /** Gives up an agent that was started before it was known what editors offer, where that is something. */
  outgrow(services: ClientServices): void {
    if (this.#current?.scout !== true || Object.values(services).every((offer) => !offer)) return;
    const { agent } = this.#current;
    this.#current = undefined;
    this.#starting = undefined;
    agent.retire();
  }

  /** The end of what the agent that was started last wrote to stderr. */
  get lastWords(): string {
    return this.#last?.lastWords ?? "";
  }

  /** Ends all agents. */
  async close(): Promise<void> {
    this.#closing.abort(new AgentFailure("engine_gone", "Gangway is shutting down"));
    await Promise.all([...this.#agents].map((agent) => agent.close()));
    await this.#starting?.catch(() => {});
  }

  async #start(): Promise<Ready> {
    // One that fell is seen to the end first, so that it is known how soon that was.
    if (this.#current?.agent.state === "gone") await this.#current.agent.gone;
    if (this.#failures > 0) {
      await pause(Math.min(BACKOFF_MS * 2 ** (this.#failures - 1), BACKOFF_MOST_MS), this.#closing.signal);
    }
    this.#closing.signal.throwIfAborted();
    const since = performance.now();
    const known = this.#known;
    const services = known ?? NO_SERVICES;
    let agent: Agent;
    try {
      agent = new Agent({ ...this.#parts, services });
    } catch (error) {
      this.#failures++;
      throw error;
    }
    this.#agents.add(agent);
    this.#last = agent;
    agent.gone.then(() => {
      this.#agents.delete(agent);
      // One that was retired has a successor already.
      if (this.#current?.agent !== agent) return;
      this.#current = undefined;
      this.#failures = performance.now() - since > STEADY_MS ? 0 : this.#failures + 1;
    });
    const ready = agent.hello.then((hello) => {
      this.#parts.met?.(hello, services);
      return { agent, hello };
    });
    this.#current = { agent, ready, scout: known === undefined };
    return await ready;
  }
}
