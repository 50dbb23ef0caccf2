/**
 * The Runtime Host's contract over a stream of bytes: the side that serves a Host, and the side that is one.
 *
 * @module
 */
export { RemoteHost, type RemoteHostOptions } from "./client.ts";
export type { ClientInfo, HostInfo } from "./info.ts";
export { WIRE_LIMITS, type WireLimits } from "./limits.ts";
export {
  HostServer,
  type HostServerOptions,
  type ServedConnection,
  serveHost,
  type ServeHostOptions,
} from "./server.ts";
export type { WireStream } from "./stream.ts";
