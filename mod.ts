/**
 * Gangway is the agent's side of the Agent Client Protocol: in front it speaks with an editor, behind it stands a durable
 * Runtime Host, and behind that any Engine does the work.
 *
 * This module is the library: {@linkcode serve} connects one editor with one Host over a pair of byte streams. Hosts are in
 * `@gangway/acp/host`, what an Engine is in `@gangway/acp/engine`. Run as a program it is the command line.
 *
 * @example Serve an editor that is connected by two streams
 * ```ts
 * import { randomIds, ScopedFiles, serve, silentLog, systemClock, workbench } from "@gangway/acp";
 * import { LocalHost, MemoryStore } from "@gangway/acp/host";
 *
 * // An editor that has nothing to say and hangs up.
 * const input = new Blob([]).stream();
 * const output = new WritableStream<Uint8Array>();
 *
 * const parts = { clock: systemClock, ids: randomIds, log: silentLog };
 * const host = new LocalHost({
 *   store: () => Promise.resolve(new MemoryStore()),
 *   engines: [workbench()],
 *   defaultEngine: "workbench",
 *   ...parts,
 * });
 * await serve({ input, output, host: host.connect("editor-1"), files: new ScopedFiles({ denials: [] }), ...parts });
 * await host.close();
 * ```
 *
 * @module
 */
export { serve, type ServeOptions } from "./src/acp/serve.ts";
export type { ConnectionSessions } from "./src/acp/sessions.ts";
export type { PromptAnswer } from "./src/session/prompt.ts";
export type { SessionParts } from "./src/session/session.ts";
export type { SessionPlace } from "./src/session/sessions.ts";
export type { Implementation } from "@agentclientprotocol/sdk";
export { ScopedFiles, type ScopedFilesOptions } from "./src/resource/files.ts";
export type { ReadGrants } from "./src/resource/grants.ts";
export type { Draft, DraftBase, DraftPart } from "./src/session/draft.ts";
export type {
  ClientAbilities,
  ClientPort,
  EncodedUpdate,
  Files,
  Link,
  LinkedFile,
} from "./src/session/ports.ts";
export { ResourceError } from "./src/session/ports.ts";
export { workbench, type WorkbenchOptions } from "./src/engine/workbench/mod.ts";
export { LIMITS, type Limits } from "./src/limits.ts";
export type { Clock, Ids } from "./src/model/clock.ts";
export { type Log, silentLog } from "./src/model/log.ts";
export { randomIds, systemClock } from "./src/system.ts";

if (import.meta.main) {
  const { main } = await import("./src/cli/mod.ts");
  Deno.exit(await main(Deno.args));
}
