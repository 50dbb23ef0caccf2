import type { Config, ConfigChange } from "../model/config.ts";
import type { Draft } from "../session/draft.ts";
import type { Meta } from "../model/json.ts";
import type { PromptAnswer } from "../session/prompt.ts";
import type { SessionInfo, SessionPage } from "../host/contract.ts";
import type { SessionPlace } from "../session/sessions.ts";

/**
 * One connection's Sessions, as the front needs them. Every operation throws `SessionError`, `ResourceError` or `ClientGone`, and
 * takes effect in the order of the calls.
 */
export interface ConnectionSessions {
  /** Creates a durable Session, which this connection owns from then on. */
  create(request: SessionPlace): Promise<SessionInfo>;
  /** `limit` bounds the page; the cursor goes on behind its last Session. */
  list(request: { cwd?: string; cursor?: string; limit?: number }): Promise<SessionPage>;
  /** Shows the whole conversation before it resolves. */
  load(sessionId: string, request: SessionPlace): Promise<SessionInfo>;
  /** Takes a Session over without showing anything of it. */
  resume(sessionId: string, request: SessionPlace): Promise<SessionInfo>;
  /** Deletes a Session for good; silent where there is none. */
  remove(sessionId: string): Promise<void>;
  /** Aborting the signal is a cancel: it resolves with `cancelled`. */
  prompt(sessionId: string, draft: Draft, signal: AbortSignal): Promise<PromptAnswer>;
  /** Cancels what runs and waits; silent for a Session that is not owned. */
  cancel(sessionId: string): void;
  /** Ends what the Session does here and gives it up; the durable Session stays. */
  close(sessionId: string): Promise<void>;
  /** Changes an option and returns all of them. `meta` goes to the Engine unread. */
  configure(sessionId: string, change: ConfigChange, meta?: Meta): Promise<Config>;
  /** Whether this connection owns the Session. */
  owns(sessionId: string): boolean;
  /** Called after the answer that named the Session has left; silent for a Session that is not owned any more. */
  announce(sessionId: string): void;
  /** Releases everything at once, without waiting for the Host. */
  shutdown(): Promise<void>;
}
