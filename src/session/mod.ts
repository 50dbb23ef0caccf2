/**
 * One connection's Sessions: ownership, attachment and recovery, a prompt's life, admission, cancellation. It knows the Host by its
 * contract and the Client by a port.
 *
 * @module
 */
export * from "./draft.ts";
export * from "./errors.ts";
export * from "./ports.ts";
export type { PromptAnswer, PromptStage } from "./prompt.ts";
export type { SessionParts } from "./session.ts";
export { type SessionPlace, Sessions } from "./sessions.ts";
