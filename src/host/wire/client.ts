import type { Clock, Ids } from "../../model/clock.ts";
import type { Log } from "../../model/log.ts";
import type { ClientInfo } from "./info.ts";
import type { WireLimits } from "./limits.ts";
import type { WireStream } from "./stream.ts";

/** What a {@linkcode RemoteHost} works with. */
export interface RemoteHostOptions {
  /** Makes the next stream to the Host, or rejects. The signal aborts when nobody wants it any more. */
  readonly dial: (signal: AbortSignal) => Promise<WireStream>;
  /** Time. */
  readonly clock: Clock;
  /** Where new ids come from. */
  readonly ids: Ids;
  /** Where diagnostics go. */
  readonly log: Log;
  /** Other limits than those in force. */
  readonly limits?: Partial<WireLimits>;
  /** Who this is; Gangway's own name where absent. */
  readonly client?: ClientInfo;
  /** The id of this connection; a new one where absent. */
  readonly connectionId?: string;
  /** At least 0 and below 1: varies the time between attempts. */
  readonly random?: () => number;
}
