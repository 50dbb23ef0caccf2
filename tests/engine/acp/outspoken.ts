import { type Launch, script } from "../../support/launch.ts";
import type { Editor, EditorOptions } from "../../support/editor.ts";
import type { JsonObject } from "../../../src/model/json.ts";
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

/** An editor of that agent behind Gangway. */
export function outspoken(more: EditorOptions = {}): EditorOptions {
  return { launch: behind(), deadlineMs: 20_000, ...more };
}

/** What the agent heard so far, beside what asks it. */
export async function heardBy(editor: Editor): Promise<readonly JsonObject[]> {
  const { heard } = await editor.request("_heard", {}) as { readonly heard: readonly JsonObject[] };
  return heard;
}
