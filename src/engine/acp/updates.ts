import type { Command, PlanEntry, Usage } from "../../model/plan.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { metaOf, numberOf, recordOf, recordsOf, textOf } from "./shape.ts";

/**
 * - `turn`: belongs to a Turn
 * - `session`: about the Session as a whole, may come at any time
 * - `echo`: the user's own words, which the Host has
 */
export type UpdateKind = "turn" | "session" | "echo";

const KINDS: ReadonlyMap<Json, UpdateKind> = new Map([
  ["agent_message_chunk", "turn"],
  ["agent_thought_chunk", "turn"],
  ["tool_call", "turn"],
  ["tool_call_update", "turn"],
  ["plan", "turn"],
  ["usage_update", "turn"],
  ["notice", "turn"],
  ["compaction_update", "turn"],
  ["compaction_summary_chunk", "turn"],
  ["available_commands_update", "session"],
  ["current_mode_update", "session"],
  ["config_option_update", "session"],
  ["session_info_update", "session"],
  ["user_message_chunk", "echo"],
]);

/** What an update is about; undefined for one that version 1 of the protocol does not have. */
export function kindOf({ sessionUpdate }: JsonObject): UpdateKind | undefined {
  return KINDS.get(sessionUpdate ?? null);
}

/** The entries of a plan; those without content are left out. */
export function planOf(entries: Json | undefined): readonly PlanEntry[] {
  return recordsOf(entries).flatMap(({ content, priority, status, _meta }) => {
    if (typeof content !== "string") return [];
    const meta = metaOf(_meta);
    return [{
      content,
      priority: priority === "high" || priority === "low" ? priority : "medium",
      status: status === "in_progress" || status === "completed" ? status : "pending",
      ...(meta !== undefined && { meta }),
    }];
  });
}

/** How full the window is; undefined where that is not said. */
export function usageOf({ used, size, cost, _meta }: JsonObject): Usage | undefined {
  const [tokens, window] = [numberOf(used), numberOf(size)];
  if (tokens === undefined || window === undefined) return undefined;
  const { amount, currency } = recordOf(cost);
  const spent = numberOf(amount);
  const meta = metaOf(_meta);
  return {
    used: tokens,
    size: window,
    ...(spent !== undefined && typeof currency === "string" && { cost: { amount: spent, currency } }),
    ...(meta !== undefined && { meta }),
  };
}

/** The commands of a Session. */
export function commandsOf(list: Json | undefined): readonly Command[] {
  return recordsOf(list).flatMap(({ name, description, input, _meta }) => {
    if (typeof name !== "string") return [];
    const hint = textOf(recordOf(input).hint);
    const meta = metaOf(_meta);
    return [{
      name,
      description: textOf(description) ?? "",
      ...(hint !== undefined && { hint }),
      ...(meta !== undefined && { meta }),
    }];
  });
}
