import type { CreateSession, SessionInfo } from "../contract.ts";
import type { Engine } from "../../engine/contract.ts";
import { HostError } from "../errors.ts";
import { withChanges } from "./choices.ts";

/** The Engines of a Host, by id. */
export class Catalogue {
  readonly #engines: ReadonlyMap<string, Engine>;
  readonly #defaultEngine: string;
  readonly #date: () => number;
  readonly #others: (engineId: string) => Engine | undefined;

  constructor(
    engines: readonly Engine[],
    defaultEngine: string,
    date: () => number,
    others: (engineId: string) => Engine | undefined = () => undefined,
  ) {
    this.#engines = new Map(engines.map((engine) => [engine.profile.engineId, engine]));
    this.#defaultEngine = defaultEngine;
    this.#date = date;
    this.#others = others;
  }

  /** The Engine of a stored Session, where it is configured. */
  find(engineId: string): Engine | undefined {
    return this.#engines.get(engineId) ?? this.#others(engineId);
  }

  /** An Engine, or the default one. Throws `invalid` for an unknown one. */
  engine(engineId: string = this.#defaultEngine): Engine {
    const engine = this.find(engineId);
    if (engine !== undefined) return engine;
    const known = [...this.#engines.keys()].map((each) => `"${each}"`).join(", ");
    throw new HostError("invalid", `There is no agent "${engineId}"; there are ${known || "none"}`);
  }

  /** What a new Session begins as. Throws `invalid` for an unknown Engine, option or value. */
  sessionOf(request: CreateSession): SessionInfo {
    const { profile } = this.engine(request.engineId);
    const { sessionId, cwd, roots } = request;
    const options = withChanges(profile.options, request.options ?? []);
    const now = this.#date();
    return {
      sessionId,
      cwd,
      roots,
      engineId: profile.engineId,
      createdAt: now,
      updatedAt: now,
      config: { revision: 1, options },
      commands: profile.commands,
    };
  }
}
