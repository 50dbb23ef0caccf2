import { type Launch, script } from "../../support/launch.ts";
import type { Traits } from "./outspoken_agent.ts";

/** An agent that speaks beyond Sessions and Turns, alone. */
export function alone(traits: Traits = {}): Launch {
  return script("tests/engine/acp/outspoken_agent.ts", JSON.stringify(traits));
}

/** Gangway with that agent behind it; Sessions are kept in memory where no flags say otherwise. */
export function behind(traits: Traits = {}, ...flags: string[]): Launch {
  const { program, args } = alone(traits);
  return script("mod.ts", ...(flags.length > 0 ? flags : ["--memory"]), "--", program, ...args);
}
