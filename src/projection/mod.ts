/**
 * Frames and rows of a Host to `session/update` of an editor: pure, usable alone. Time is an argument, nothing is read or written.
 *
 * @example Show what a Run says
 * ```ts
 * import { TurnProjection } from "@gangway/acp/projection";
 * import { assertEquals } from "@std/assert";
 *
 * const abilities = { terminal: false, booleanOptions: false, notices: false, compaction: false };
 * const shown = new TurnProjection("turn-1", { abilities });
 * const run = { turnId: "turn-1", runId: "run-1" };
 * const said = { type: "message", run, messageId: "m-1", channel: "text", offset: 0, text: "Hello" } as const;
 *
 * const [update] = shown.apply(said, 0).updates;
 * assertEquals(JSON.parse(update ?? ""), {
 *   sessionUpdate: "agent_message_chunk",
 *   messageId: "m-1",
 *   content: { type: "text", text: "Hello" },
 * });
 * // Seen twice, shown once.
 * assertEquals(shown.apply(said, 0).updates, []);
 * ```
 *
 * @module
 */
export type * from "../model/mod.ts";
export type { HeldBody } from "../host/contract.ts";
export { configOptionsOf, modesOf } from "./config.ts";
export { bytesOf, UPDATE_BYTES } from "./encode.ts";
export type { Redact } from "../model/redact.ts";
export { redactJson, redactObject, redactSecrets } from "../model/redact.ts";
export { Replay } from "./replay.ts";
export type { ReplayOptions } from "./replay.ts";
export {
  commandsUpdate,
  configUpdates,
  sessionUpdates,
  titleUpdate,
  usageUpdate,
} from "./session_updates.ts";
export type { EncodedUpdate, Fault, FaultCode, Shows, Step } from "./step.ts";
export { TurnProjection } from "./turn.ts";
export type { Budget, ProjectionOptions } from "./turn.ts";
export type {
  SessionConfigBoolean,
  SessionConfigGroupId,
  SessionConfigId,
  SessionConfigOption,
  SessionConfigOptionCategory,
  SessionConfigSelect,
  SessionConfigSelectGroup,
  SessionConfigSelectOption,
  SessionConfigSelectOptions,
  SessionConfigValueId,
  SessionMode,
  SessionModeId,
  SessionModeState,
} from "@agentclientprotocol/sdk";
