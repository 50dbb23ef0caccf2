import type { WireStream } from "../stream.ts";
import type { Endpoint } from "./endpoint.ts";

/** Takes connections of our own user and of nobody else. */
export interface Listener {
  /** Where it listens. */
  readonly endpoint: Endpoint;
  /** Connections as they come; ends after {@linkcode Listener.close}. One reader. */
  readonly connections: AsyncIterable<WireStream>;
  /** Takes no more. Those that were taken stay. */
  close(): Promise<void>;
}
