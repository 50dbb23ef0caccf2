import type { Engine, EngineContext, EngineSession } from "../../src/engine/contract.ts";
import type { EngineProfile } from "../../src/host/contract.ts";
import { EngineRun, type RunParts } from "./engine_run.ts";

const PROFILE: EngineProfile = {
  engineId: "random",
  title: "Random",
  options: [
    {
      id: "mode",
      name: "Mode",
      type: "select",
      category: "mode",
      value: "ask",
      choices: [{ value: "ask", name: "Ask" }, { value: "code", name: "Code" }, {
        value: "plan",
        name: "Plan",
      }],
    },
    { id: "fast", name: "Fast", type: "boolean", value: false },
  ],
  commands: [{ name: "say", description: "Says it" }],
  prompt: { image: true, audio: true, embeddedContext: true },
  mcp: { http: true, sse: true },
  linkedDirectories: false,
  authMethods: [],
};

/** An Engine that does anything that the contract allows, and some of what it only has to bear. */
export class RandomEngine implements Engine {
  readonly profile: EngineProfile = PROFILE;
  readonly #parts: RunParts;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  async open(context: EngineContext): Promise<EngineSession> {
    const { random, clock } = this.#parts;
    if (random.chance(0.3)) await clock.sleep(random.pause());
    if (random.chance(0.02)) throw new Error("The agent does not start");
    if (random.chance(0.3)) {
      void context.commands([{ name: `c${random.between(1, 9)}`, description: "Does it" }]);
    }
    return {
      run: async (turn, sink, signal) => {
        if (random.chance(0.1)) void context.title(`Title ${random.between(1, 99)}`);
        if (random.chance(0.1)) void context.state({ turns: turn.turnId }).catch(() => {});
        if (random.chance(0.05)) {
          const options = context.config().options.map((option) =>
            option.type === "boolean" ? { ...option, value: random.chance(0.5) } : option
          );
          void context.configured(options).catch(() => {});
        }
        return await new EngineRun(turn.turnId, sink, signal, this.#parts).perform();
      },
      configure: () => random.chance(0.05) ? Promise.reject(new Error("Not now")) : Promise.resolve(),
      close: () => random.chance(0.2) ? clock.sleep(random.pause()) : Promise.resolve(),
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
