import type { ClientPort, Files } from "../session/ports.ts";
import type { Clock, Ids } from "../model/clock.ts";
import type { Config, ConfigChange } from "../model/config.ts";
import type { McpServer, RuntimeHost, SessionInfo, SessionPage } from "../host/contract.ts";
import type { Draft } from "../session/draft.ts";
import type { Log } from "../model/log.ts";
import type { Meta } from "../model/json.ts";
import type { StopReason } from "../model/run.ts";

/** Where a Session works and what it is given. The lists are complete: they replace what was there before. */
export interface Workplace {
  /** Absolute, as the Client wrote it. */
  readonly cwd: string;
  /** Additional roots, absolute, without `cwd`. */
  readonly roots: readonly string[];
  /** The complete list of this connection, in ACP's own shape. */
  readonly mcpServers: readonly McpServer[];
}

/** How a prompt ended. */
export interface PromptAnswer {
  /** Why the Turn ended. */
  readonly stopReason: StopReason | "cancelled";
  /** What the Engine says beside it. */
  readonly meta?: Meta;
}

/**
 * One connection's Sessions, as the front needs them. Every operation throws `SessionError`, `ResourceError` or `ClientGone`, and
 * takes effect in the order of the calls.
 */
export interface ConnectionSessions {
  /** Creates a durable Session, which this connection owns from then on. */
  create(request: Workplace & { readonly meta?: Meta }): Promise<SessionInfo>;
  /** `limit` bounds the page; the cursor goes on behind its last Session. */
  list(request: { cwd?: string; cursor?: string; limit?: number }): Promise<SessionPage>;
  /** Shows the whole conversation before it resolves. */
  load(sessionId: string, request: Workplace): Promise<SessionInfo>;
  /** Takes a Session over without showing anything of it. */
  resume(sessionId: string, request: Workplace): Promise<SessionInfo>;
  /** Deletes a Session for good; silent where there is none. */
  remove(sessionId: string): Promise<void>;
  /** Aborting the signal is a cancel: it resolves with `cancelled`. */
  prompt(sessionId: string, draft: Draft, signal: AbortSignal): Promise<PromptAnswer>;
  /** Cancels what runs and waits; silent for a Session that is not owned. */
  cancel(sessionId: string): void;
  /** Ends what the Session does here and gives it up; the durable Session stays. */
  close(sessionId: string): Promise<void>;
  /** Changes an option and returns all of them. */
  configure(sessionId: string, change: ConfigChange): Promise<Config>;
  /** Called after the answer that named the Session has left; silent for a Session that is not owned any more. */
  announce(sessionId: string): void;
  /** Releases everything at once, without waiting for the Host. */
  shutdown(): Promise<void>;
}

/** What the Sessions of a connection are made from. */
export interface SessionParts {
  /** This connection's view of the Host. */
  readonly host: RuntimeHost;
  /** The editor. */
  readonly client: ClientPort;
  /** The one door to the disk. */
  readonly files: Files;
  /** Time. */
  readonly clock: Clock;
  /** Where new ids come from. */
  readonly ids: Ids;
  /** Where diagnostics go. */
  readonly log: Log;
}
