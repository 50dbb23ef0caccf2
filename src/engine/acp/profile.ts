import type { ConfigOption } from "../../model/config.ts";
import type { EngineProfile } from "../../host/contract.ts";
import type { Hello } from "./hello.ts";
import { type AgentMemory, memoryOf } from "./memory.ts";
import type { Json } from "../../model/json.ts";

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

  /** `remembered` is what `remember` was given in an earlier process. */
  constructor(
    names: { readonly engineId: string; readonly title: string },
    remembered: Json | undefined,
    remember: (value: Json) => void,
  ) {
    this.#remember = remember;
    this.#memory = memoryOf(remembered);
    this.current = {
      engineId: names.engineId,
      title: names.title,
      linkedDirectories: true,
      ...UNKNOWN,
      ...this.#memory,
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
