import { acpEngine } from "../../engine/acp/mod.ts";
import type { AgentDescription } from "./description.ts";
import type { Engine, ExtensionOutlet } from "../../engine/contract.ts";
import { loginWords } from "../flags.ts";
import type { Log } from "../../model/log.ts";
import { openMemory } from "../memory.ts";
import { VERSION } from "../version.ts";

/** An Engine for as long as somebody needs it. */
export interface EngineLease {
  readonly engine: Engine;
  /** It is not needed any more. Called once. */
  release(): Promise<void>;
}

/** Agents that are at work: one for all Sessions whose agents are described alike, for as long as there is one. */
export class AgentPool {
  readonly #folder: string;
  readonly #log: Log;
  readonly #outlet: ExtensionOutlet;
  readonly #engines = new Map<string, { readonly engine: Engine; users: number }>();

  /** `folder` keeps what agents say of themselves. `outlet` takes what they say beyond Sessions and Turns. */
  constructor(options: { folder: string; log: Log; outlet: ExtensionOutlet }) {
    this.#folder = options.folder;
    this.#log = options.log;
    this.#outlet = options.outlet;
  }

  /** Makes an Engine for a description, without starting anything. */
  make(description: AgentDescription, environment: Readonly<Record<string, string>>): Engine {
    const { engineId, program, args, cwd, env, options } = description;
    const command = {
      program,
      args,
      cwd,
      env: { ...environment, ...env },
      environment: "given",
    } as const;
    const memory = openMemory({ engineId, command, log: this.#log, folder: this.#folder });
    const engine = acpEngine({
      engineId,
      command,
      log: this.#log,
      version: VERSION,
      preferred: options,
      terminal: { words: (variables) => loginWords(engineId, variables) },
      ...memory,
    });
    engine.extensions?.connect(this.#outlet);
    return engine;
  }

  /** Gives the Engine of a description, which others may have as well. */
  lease(description: AgentDescription, environment: Readonly<Record<string, string>>): EngineLease {
    const key = JSON.stringify([description, environment]);
    const shared = this.#engines.get(key) ?? { engine: this.make(description, environment), users: 0 };
    this.#engines.set(key, shared);
    shared.users++;
    return {
      engine: shared.engine,
      release: async () => {
        if (--shared.users > 0) return;
        this.#engines.delete(key);
        await shared.engine.close();
      },
    };
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    const engines = [...this.#engines.values()];
    this.#engines.clear();
    await Promise.all(engines.map(({ engine }) => engine.close()));
  }
}
