import { type AgentDescription, descriptions, type Introduction } from "./description.ts";
import { AgentPool, type EngineLease } from "./agent_pool.ts";
import type { EngineArchive } from "../../engine/archive.ts";
import type {
  Engine,
  EngineContext,
  EngineExtensions,
  EngineSession,
  ExtensionOutlet,
} from "../../engine/contract.ts";
import { unknownExtension } from "../../model/extension.ts";
import { HostError } from "../../host/errors.ts";
import type { Log } from "../../model/log.ts";
import { WORKBENCH } from "../roster.ts";
import { workbench } from "../../engine/workbench/mod.ts";
import { writePrivate } from "../../host/wire/transport/endpoint.ts";

/** What an {@linkcode AgentBook} works with. */
export interface AgentBookOptions {
  /** The state folder. */
  readonly folder: string;
  /** Where the agents are written down for the next Host, without any variable. */
  readonly file: string;
  /** Variables of agents whose editors did not say or could not. */
  readonly base: Readonly<Record<string, string>>;
  /** Where agents put what they say beyond Sessions and Turns. */
  readonly outlet: ExtensionOutlet;
  readonly log: Log;
}

/** An agent with the variables that its editor gave. */
interface Entry {
  readonly description: AgentDescription;
  readonly environment: Readonly<Record<string, string>>;
}

/** Sessions whose editors are remembered; past it those that were bound longest ago take their agent as it was described last. */
const BOUND = 4096;

/**
 * The agents of a Host that serves several editors. Each editor describes its own; a Session has the agent that the editor described who
 * created, loaded or resumed it last. Names, programs and arguments are written down, so that the next Host can start the agents
 * of its Sessions again; variables stay in memory.
 */
export class AgentBook {
  readonly #options: AgentBookOptions;
  readonly #pool: AgentPool;
  readonly #entries = new Map<string, Entry>();
  readonly #engines = new Map<string, Engine>();
  readonly #bound = new Map<string, Introduction>();
  /** Agents that an editor asked something that is about no Session: a login may live as long as its agent. */
  readonly #asked = new Map<string, EngineLease>();
  readonly #workbenches = {
    chosen: workbench({ reason: "chosen" }),
    fallback: workbench({ reason: "fallback" }),
  };

  /** Reads what earlier Hosts wrote down. */
  constructor(options: AgentBookOptions) {
    this.#options = options;
    this.#pool = new AgentPool(options);
    for (const description of written(options)) {
      this.#entries.set(description.engineId, { description, environment: options.base });
    }
  }

  /** An editor is here: its agents are as it describes them from now on. */
  introduce(introduction: Introduction): void {
    const { agents } = introduction;
    const environment = variablesOf(introduction, this.#options.base);
    const before = this.#text();
    for (const description of agents) {
      this.#entries.set(description.engineId, { description, environment });
      this.#engines.delete(description.engineId);
    }
    const text = this.#text();
    if (text === before) return;
    try {
      writePrivate(this.#options.file, text);
    } catch (error) {
      this.#options.log.warn("The agents could not be written down", { error: String(error) });
    }
  }

  /** A Session is this editor's now. */
  bind(sessionId: string, introduction: Introduction): void {
    this.#bound.delete(sessionId);
    this.#bound.set(sessionId, introduction);
    const [oldest] = this.#bound.keys();
    if (this.#bound.size > BOUND && oldest !== undefined) this.#bound.delete(oldest);
  }

  /** A Session is gone. */
  forget(sessionId: string): void {
    this.#bound.delete(sessionId);
  }

  /** The agent of this name, as it was described last. */
  engineOf(engineId: string): Engine | undefined {
    const known = this.#engines.get(engineId);
    if (known !== undefined) return known;
    const engine = this.#make(engineId);
    if (engine !== undefined) this.#engines.set(engineId, engine);
    return engine;
  }

  /** Every agent that is known. */
  get engines(): readonly Engine[] {
    return [WORKBENCH, ...this.#entries.keys()].flatMap((engineId) => this.engineOf(engineId) ?? []);
  }

  /** Ends all agents. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  #make(engineId: string): Engine | undefined {
    const entry = this.#entries.get(engineId);
    if (engineId !== WORKBENCH && entry === undefined) return undefined;
    // Only its profile is looked at: it starts nothing.
    const shown = entry === undefined
      ? this.#workbenches.chosen
      : this.#pool.make(entry.description, entry.environment);
    return {
      profile: shown.profile,
      ...(entry !== undefined &&
        { extensions: this.#extensions(engineId), archive: this.#archive(engineId) }),
      open: (context) => this.#open(engineId, context),
      close: () => Promise.resolve(),
    };
  }

  #extensions(engineId: string): EngineExtensions {
    return {
      // Those that are at work have their outlet from the beginning.
      connect: () => {},
      call: async (message, client, signal) =>
        await this.#ask(engineId).extensions?.call(message, client, signal) ??
          unknownExtension(message.method),
      notify: async (message, client) => await this.#ask(engineId).extensions?.notify(message, client),
    };
  }

  #archive(engineId: string): EngineArchive {
    const at = ({ archive }: Engine): EngineArchive => {
      if (archive !== undefined) return archive;
      throw new HostError("unavailable", `The agent "${engineId}" keeps no Sessions`);
    };
    return {
      list: async (request, signal) => await at(this.#ask(engineId)).list(request, signal),
      remove: async (keptAs, signal) => await at(this.#ask(engineId)).remove(keptAs, signal),
      take: async (kept, context, ...of) => {
        const lease = this.#lease(engineId, context.sessionId);
        try {
          return withLease(await at(lease.engine).take(kept, context, ...of), lease);
        } catch (error) {
          await lease.release();
          throw error;
        }
      },
    };
  }

  /** The agent of this name at work, which stays there until it is described otherwise. */
  #ask(engineId: string): Engine {
    const entry = this.#entries.get(engineId);
    if (entry === undefined) throw new HostError("unavailable", `The agent "${engineId}" is not known here`);
    const before = this.#asked.get(engineId);
    const lease = this.#pool.lease(entry.description, entry.environment);
    this.#asked.set(engineId, lease);
    void before?.release();
    return lease.engine;
  }

  async #open(engineId: string, context: EngineContext): Promise<EngineSession> {
    const lease = this.#lease(engineId, context.sessionId);
    try {
      return withLease(await lease.engine.open(context), lease);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  #lease(engineId: string, sessionId: string): EngineLease {
    const editor = this.#bound.get(sessionId);
    if (engineId === WORKBENCH) {
      return { engine: this.#workbenches[editor?.workbench ?? "chosen"], release: () => Promise.resolve() };
    }
    const own = editor?.agents.find((each) => each.engineId === engineId);
    if (own !== undefined && editor !== undefined) {
      return this.#pool.lease(own, variablesOf(editor, this.#options.base));
    }
    const entry = this.#entries.get(engineId);
    if (entry === undefined) throw new HostError("unavailable", `The agent "${engineId}" is not known here`);
    return this.#pool.lease(entry.description, entry.environment);
  }

  #text(): string {
    return JSON.stringify(
      [...this.#entries.values()].map(({ description }) => ({ ...description, env: {} })),
    );
  }
}

/**
 * The variables of an editor's agents: its own and none of anybody else's. One that was not allowed to read where programs are could not
 * say, and has those of the Host besides.
 */
function variablesOf(
  { environment }: Introduction,
  base: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return "PATH" in environment || "Path" in environment ? environment : { ...base, ...environment };
}

/** A Session of an Engine that is given back when the Session is closed. */
function withLease(session: EngineSession, lease: EngineLease): EngineSession {
  let closed: Promise<void> | undefined;
  const { steer, extensions } = session;
  return {
    run: (turn, sink, signal) => session.run(turn, sink, signal),
    configure: (config, meta) => session.configure(config, meta),
    ...(steer !== undefined && { steer: (turnId, input) => steer.call(session, turnId, input) }),
    ...(extensions !== undefined && { extensions }),
    close: () => closed ??= session.close().finally(() => lease.release()),
  };
}

function written({ file, log }: AgentBookOptions): readonly AgentDescription[] {
  try {
    return descriptions.parse(JSON.parse(Deno.readTextFileSync(file)));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      log.warn("The agents of earlier Hosts could not be read", { error: String(error) });
    }
    return [];
  }
}
