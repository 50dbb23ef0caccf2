/**
 * Frames and rows to `session/update`: pure, usable alone.
 *
 * @module
 */
export { configOptionsOf, modesOf } from "./config.ts";
export { bytesOf, UPDATE_BYTES } from "./encode.ts";
export type { Redact } from "./redact.ts";
export { redactJson, redactObject, redactSecrets } from "./redact.ts";
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
