import type { ClientServices } from "../../host/contract.ts";
import type { Command } from "../../model/plan.ts";
import type { ConfigOption } from "../../model/config.ts";
import type { EngineProfile } from "../../host/contract.ts";
import type { Hello } from "./hello.ts";
import { type AgentMemory, memoryOf } from "./memory.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { ownLogins, type TerminalLogin } from "./logins.ts";
import { withPreferred } from "./options.ts";

/** What is known of an agent that was never started: what can be passed on to it, or degraded to a link. */
const UNKNOWN: Pick<EngineProfile, "prompt" | "mcp" | "options" | "commands" | "authMethods" | "beyond"> = {
  prompt: { image: true, audio: false, embeddedContext: true },
  mcp: { http: false, sse: false },
  options: [],
  commands: [],
  authMethods: [],
  beyond: { capabilities: {} },
};

/** UTF-16 units of encoded commands that are kept: what is larger is learnt anew each time. */
const COMMANDS = 64 * 1024;

/** Removed Sessions of an agent that cannot delete them, or did not run then. */
const REMOVED = 1000;

/** What an agent is said to be able to do: static for this process, and what it said itself in an earlier one. */
export class Profile {
  /** Does not change while the process runs: an editor asks for it once. */
  readonly current: EngineProfile;
  readonly #remember: (value: Json) => void;
  #memory: AgentMemory | undefined;
  readonly #removed: Set<string>;

  /** Nothing is started for it. */
  constructor(parts: {
    readonly engineId: string;
    readonly title: string;
    /** Values that a person wants instead of the agent's own. */
    readonly preferred: Readonly<Record<string, string | boolean>>;
    /** What `remember` was given in an earlier process. */
    readonly remembered: Json | undefined;
    readonly remember: (value: Json) => void;
    /** How a person logs in to it in a terminal; not at all where absent. */
    readonly terminal: TerminalLogin | undefined;
  }) {
    this.#remember = parts.remember;
    this.#memory = memoryOf(parts.remembered);
    this.#removed = new Set(this.#memory?.removed);
    this.current = {
      engineId: parts.engineId,
      title: parts.title,
      linkedDirectories: true,
      ...UNKNOWN,
      ...this.#memory,
      options: withPreferred(this.#memory?.options ?? [], parts.preferred),
      authMethods: ownLogins(this.#memory?.authMethods ?? [], parts.terminal),
    };
  }

  /** The agent said hello to an editor that offers these services. */
  met(hello: Hello, services: ClientServices): void {
    const { prompt, mcp, version, meta } = hello;
    // An agent offers a terminal's way only where there is one; another editor may have one.
    const unsaid = services.hello?.terminalLogin === true
      ? []
      : this.#memory?.authMethods?.filter(({ type }) => type === "terminal") ?? [];
    this.#keep({
      ...this.#memory,
      prompt,
      mcp,
      authMethods: [...hello.authMethods, ...unsaid],
      beyond: { capabilities: capabilitiesOf(hello), ...(meta !== undefined && { meta }) },
      ...(version !== undefined && { version }),
    });
  }

  /** A Session has these commands now. */
  commanded(commands: readonly Command[]): void {
    if (this.#memory === undefined || JSON.stringify(commands).length > COMMANDS) return;
    this.#keep({ ...this.#memory, commands });
  }

  /** A new Session began with these options. */
  began(options: readonly ConfigOption[]): void {
    if (this.#memory !== undefined) this.#keep({ ...this.#memory, options });
  }

  /** Whether the agent keeps Sessions by itself, as far as that is known; else it has to be asked. */
  get archives(): boolean {
    return this.#memory?.archives ?? true;
  }

  /** The agent said whether it keeps Sessions by itself. */
  archived(archives: boolean): void {
    if (this.#memory !== undefined) this.#keep({ ...this.#memory, archives });
  }

  /** Sessions of the agent that nobody wants to see any more. */
  get removed(): ReadonlySet<string> {
    return this.#removed;
  }

  /** Nobody wants to see this Session of the agent any more. The oldest of very many are forgotten. */
  remove(keptAs: string): void {
    this.#removed.delete(keptAs);
    this.#removed.add(keptAs);
    for (const oldest of this.#removed) {
      if (this.#removed.size <= REMOVED) break;
      this.#removed.delete(oldest);
    }
    this.#keepRemoved();
  }

  /** The agent has deleted it, or refuses to. */
  restore(keptAs: string): void {
    if (this.#removed.delete(keptAs)) this.#keepRemoved();
  }

  #keepRemoved(): void {
    if (this.#memory !== undefined) this.#keep({ ...this.#memory, removed: [...this.#removed] });
  }

  #keep(memory: AgentMemory): void {
    const before = JSON.stringify(this.#memory);
    this.#memory = memory;
    const now = JSON.stringify(memory);
    if (now !== before) this.#remember(JSON.parse(now));
  }
}

/** What an editor is told of an agent's capabilities beyond those that Gangway has itself. */
function capabilitiesOf(hello: Hello): JsonObject {
  const { authStatus, capabilitiesMeta, logout, providers } = hello;
  return {
    ...((logout || authStatus) &&
      { auth: { ...(logout && { logout: {} }), ...(authStatus && { status: {} }) } }),
    ...(providers && { providers: {} }),
    ...(capabilitiesMeta !== undefined && { _meta: capabilitiesMeta }),
  };
}
