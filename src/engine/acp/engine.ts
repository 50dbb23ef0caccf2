import type { AcpEngineOptions } from "./mod.ts";
import { AgentArchive, archives } from "./archive.ts";
import { AgentSession } from "./session.ts";
import type { EngineContext, EngineSession, ExtensionInlet, ExtensionOutlet } from "../contract.ts";
import { agentExtensions } from "./extensions.ts";
import { Faults } from "./faults.ts";
import { Keeper } from "./keeper.ts";
import { Lobby } from "./lobby.ts";
import type { Profile } from "./profile.ts";

/** The working half of the Engine: one agent at a time for all Sessions. */
export class AgentEngine {
  /** What goes to the agent and is about none of its Sessions. */
  readonly extensions: ExtensionInlet;
  /** The Sessions that the agent keeps by itself. */
  readonly archive: AgentArchive;
  readonly #keeper: Keeper;
  readonly #profile: Profile;
  readonly #lobby: Lobby;

  /** Starts nothing yet. */
  constructor(options: AcpEngineOptions, profile: Profile, outlet: ExtensionOutlet | undefined) {
    const { command, log, terminal, version } = options;
    this.#profile = profile;
    const faults = new Faults(log);
    this.#keeper = new Keeper({
      command,
      log,
      version,
      faults,
      met: (hello, services) => {
        profile.met(hello, services);
        profile.archived(archives(hello));
      },
      ...(outlet !== undefined && { outlet }),
      ...(terminal !== undefined && { terminal }),
    });
    this.extensions = agentExtensions(this.#keeper);
    this.#lobby = new Lobby({
      defaults: () => profile.current.options,
      preferred: options.preferred ?? {},
      began: (began) => profile.began(began),
    });
    this.archive = new AgentArchive({ keeper: this.#keeper, lobby: this.#lobby, profile, faults });
  }

  /** Opens a Session; the agent is started by its first Turn. */
  open(context: EngineContext): EngineSession {
    const heard: EngineContext = {
      ...context,
      commands: (commands, meta) => {
        this.#profile.commanded(commands);
        return context.commands(commands, meta);
      },
    };
    return new AgentSession(heard, { keeper: this.#keeper, lobby: this.#lobby });
  }

  /** Ends the agent. */
  close(): Promise<void> {
    return this.#keeper.close();
  }
}
