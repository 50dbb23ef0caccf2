import type { ConfigOption } from "../../model/config.ts";
import type { EngineProfile } from "../../host/contract.ts";
import type { Hello } from "./hello.ts";
import { type AgentMemory, memoryOf } from "./memory.ts";
import type { Json } from "../../model/json.ts";
import { withPreferred } from "./options.ts";

/** What is known of an agent that was never started: what can be passed on to it, or degraded to a link. */
const UNKNOWN: Pick<EngineProfile, "prompt" | "mcp" | "options" | "commands" | "authMethods"> = {
  prompt: { image: true, audio: false, embeddedContext: true },
  mcp: { http: false, sse: false },
  options: [],
  commands: [],
  authMethods: [],
};

/** What an agent is said to be able to do: static for this process, and what it said itself in an earlier one. */
export class Profile {
  /** Does not change while the process runs: an editor asks for it once. */
  readonly current: EngineProfile;
  readonly #remember: (value: Json) => void;
  #memory: AgentMemory | undefined;

  /** Nothing is started for it. */
  constructor(parts: {
    readonly engineId: string;
    readonly title: string;
    /** Values that a person wants instead of the agent's own. */
    readonly preferred: Readonly<Record<string, string | boolean>>;
    /** What `remember` was given in an earlier process. */
    readonly remembered: Json | undefined;
    readonly remember: (value: Json) => void;
  }) {
    this.#remember = parts.remember;
    this.#memory = memoryOf(parts.remembered);
    this.current = {
      engineId: parts.engineId,
      title: parts.title,
      linkedDirectories: true,
      ...UNKNOWN,
      ...this.#memory,
      options: withPreferred(this.#memory?.options ?? [], parts.preferred),
    };
  }

  /** The agent said hello. */
  met(hello: Hello): void {
    const { prompt, mcp, version } = hello;
    this.#keep({ ...this.#memory, prompt, mcp, ...(version !== undefined && { version }) });
  }

  /** A new Session began with these options. */
  began(options: readonly ConfigOption[]): void {
    if (this.#memory !== undefined) this.#keep({ ...this.#memory, options });
  }

  #keep(memory: AgentMemory): void {
    const before = JSON.stringify(this.#memory);
    this.#memory = memory;
    const now = JSON.stringify(memory);
    if (now !== before) this.#remember(JSON.parse(now));
  }
}
