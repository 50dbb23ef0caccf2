import type { Clock } from "../../model/clock.ts";
import type { EngineProfile, RuntimeHost } from "../contract.ts";
import type { Log } from "../../model/log.ts";
import type { ClientInfo, HostInfo } from "./info.ts";
import type { WireLimits } from "./limits.ts";
import type { WireStream } from "./stream.ts";

/** What a {@linkcode HostServer} works with. */
export interface HostServerOptions {
  /** Makes the Host's side of a connection. Called once for each connection id, and again after it was released. */
  readonly connect: (connectionId: string, client: ClientInfo) => RuntimeHost;
  /** The profiles of all Engines, as they are when a client greets. */
  readonly engines: () => readonly EngineProfile[];
  /** What the welcome tells, as it is when a client greets. */
  readonly info: () => HostInfo;
  /** Time. */
  readonly clock: Clock;
  /** Where diagnostics go. */
  readonly log: Log;
  /** Other limits than those in force. */
  readonly limits?: Partial<WireLimits>;
}

/** A connection as a status shows it. */
export interface ServedConnection {
  /** Its id, chosen by the client. */
  readonly connectionId: string;
  /** Who it is. */
  readonly client: ClientInfo;
  /** `lost`: its stream is over, and it may come back. */
  readonly state: "linked" | "lost";
}

/** What {@linkcode serveHost} works with. */
export interface ServeHostOptions extends HostServerOptions {
  /** The one stream. */
  readonly stream: WireStream;
  /** Ends the serving. */
  readonly signal?: AbortSignal;
}
