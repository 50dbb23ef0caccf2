/**
 * The ACP front: JSON-RPC over byte streams.
 *
 * @module
 */
export { serveStdio, type StdioOptions } from "./stdio.ts";
export { serve, type ServeOptions } from "./serve.ts";
export type { ConnectionSessions } from "./sessions.ts";
export type { PromptAnswer, SessionParts, SessionPlace } from "../session/mod.ts";
