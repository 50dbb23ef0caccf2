/**
 * The workbench: an Engine that does real work without a model, for trying a Client, demonstrations and tests.
 *
 * @module
 */
import type { Engine, EngineContext, EngineSession } from "../contract.ts";
import { PROFILE } from "./profile.ts";

/** How a workbench is used. */
export interface WorkbenchOptions {
  /** `fallback` (default): nobody named an agent, so the first answer of a Session says how. `chosen`: it was asked for. */
  readonly reason?: "fallback" | "chosen";
}

/** Makes the Engine; what does the work is loaded when the first Session is opened. */
export function workbench({ reason = "fallback" }: WorkbenchOptions = {}): Engine {
  return {
    profile: PROFILE,
    async open(context: EngineContext): Promise<EngineSession> {
      const { WorkbenchSession } = await import("./session.ts");
      return new WorkbenchSession(context, reason === "fallback");
    },
    close: () => Promise.resolve(),
  };
}
