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
  readonly mcpServers: readonly McpServer[];
}

/** How a prompt ended. */
export interface PromptAnswer {
  readonly stopReason: StopReason | "cancelled";
  readonly meta?: Meta;
}

/**
 * One connection's Sessions, as the front needs them. Every operation throws `SessionError`, `ResourceError` or `ClientGone`, and
 * takes effect in the order of the calls.
 */
export interface ConnectionSessions {
  create(request: Workplace & { readonly meta?: Meta }): Promise<SessionInfo>;
  /** `limit` bounds the page; the cursor goes on behind its last Session. */
  list(request: { cwd?: string; cursor?: string; limit?: number }): Promise<SessionPage>;
  /** Shows the whole conversation before it resolves. */
  load(sessionId: string, request: Workplace): Promise<SessionInfo>;
  resume(sessionId: string, request: Workplace): Promise<SessionInfo>;
  remove(sessionId: string): Promise<void>;
  /** Aborting the signal is a cancel: it resolves with `cancelled`. */
  prompt(sessionId: string, draft: Draft, signal: AbortSignal): Promise<PromptAnswer>;
  /** Cancels what runs and waits; silent for a Session that is not owned. */
  cancel(sessionId: string): void;
  close(sessionId: string): Promise<void>;
  configure(sessionId: string, change: ConfigChange): Promise<Config>;
  /** Called after the answer that named the Session has left; silent for a Session that is not owned any more. */
  announce(sessionId: string): void;
  /** Releases everything at once, without waiting for the Host. */
  shutdown(): Promise<void>;
}

/** What the Sessions of a connection are made from. */
export interface SessionParts {
  readonly host: RuntimeHost;
  readonly client: ClientPort;
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}
