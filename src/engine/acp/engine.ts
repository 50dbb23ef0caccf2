import type { AcpEngineOptions } from "./mod.ts";
import { AgentSession } from "./session.ts";
import type { EngineContext, EngineSession } from "../contract.ts";
import { Faults } from "./faults.ts";
import { Keeper } from "./keeper.ts";
import { Lobby } from "./lobby.ts";
import type { Profile } from "./profile.ts";

/** The working half of the Engine: one agent at a time for all Sessions. */
export class AgentEngine {
  readonly #keeper: Keeper;
  readonly #lobby: Lobby;

  /** Starts nothing yet. */
  constructor(options: AcpEngineOptions, profile: Profile) {
    const { command, log, version } = options;
    this.#keeper = new Keeper({
      command,
      log,
      version,
      faults: new Faults(log),
      met: (hello) => profile.met(hello),
    });
    this.#lobby = new Lobby({
      defaults: () => profile.current.options,
      preferred: options.preferred ?? {},
      began: (began) => profile.began(began),
    });
  }

  /** Opens a Session; the agent is started by its first Turn. */
  open(context: EngineContext): EngineSession {
    return new AgentSession(context, { keeper: this.#keeper, lobby: this.#lobby });
  }

  /** Ends the agent. */
  close(): Promise<void> {
    return this.#keeper.close();
  }
}
