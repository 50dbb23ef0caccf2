import type { McpServer, SessionInfo, SessionPage } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";
import type { Config, ConfigChange } from "../model/config.ts";
import type { Meta } from "../model/json.ts";
import { within } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import { SessionError } from "./errors.ts";
import { sessionErrorOf } from "./failures.ts";
import { ClientGone } from "./ports.ts";
import type { PromptAnswer } from "./prompt.ts";
import { ClientSession, type SessionParts } from "./session.ts";

/** What a Client gives with a Session each time it creates, loads or resumes it. Paths as the Client wrote them. */
export interface SessionPlace {
  /** Absolute. */
  readonly cwd: string;
  /** Additional roots, absolute, without `cwd`; the complete list. */
  readonly roots: readonly string[];
  /** The complete list. */
  readonly mcpServers: readonly McpServer[];
  /** Passed on to the Engine unread. */
  readonly meta?: Meta;
}

/**
 * The Sessions that one connection owns. Creating, loading and resuming make it the owner; listing grants nothing; an operation on
 * any other Session is refused before the Host hears of it.
 */
export class Sessions {
  readonly #options: SessionParts;
  readonly #owned = new Map<string, ClientSession>();
  readonly #closing = new Map<string, { readonly session: ClientSession; readonly closed: Promise<void> }>();
  /** The last load or resume of each Session that is under way: the next one waits for it. */
  readonly #joins = new Map<string, Promise<unknown>>();
  readonly #over = new AbortController();
  #watching = false;

  /** Owns nothing yet and asks nothing of the Host. */
  constructor(options: SessionParts) {
    this.#options = options;
  }

  /** Creates a durable Session. Its id is chosen here and kept in the error where the outcome stays unknown. */
  async create(request: SessionPlace & { engineId?: string }): Promise<SessionInfo> {
    const { host, ids } = this.#options;
    const place = await this.#place(request);
    const sessionId = ids.next();
    const reply = await host.sessions.create({
      ...place,
      sessionId,
      engineId: request.engineId,
    });
    if (reply.kind === "done") return this.#own(reply.value);
    if (reply.kind === "unknown" && !this.#over.signal.aborted) {
      // Never sent again; but asking by its identity may still find it.
      const found = await this.#find(sessionId);
      if (found !== undefined) return this.#own(found);
    }
    throw sessionErrorOf(reply.error, sessionId);
  }

  /** A page of Sessions, newest first. `cwd` is compared by its real path where that can be read. */
  async list(request: { cwd?: string; cursor?: string; limit?: number }): Promise<SessionPage> {
    const { host, files } = this.#options;
    try {
      // A folder that is gone may still have Sessions: compare it as it was written.
      const cwd = request.cwd === undefined
        ? undefined
        : await files.directory(request.cwd).catch(() => request.cwd);
      return await host.sessions.list({ ...request, cwd });
    } catch (error) {
      if (error instanceof HostError && error.code === "invalid") {
        throw new SessionError("invalid_params", error.message, {}, { cause: error });
      }
      throw sessionErrorOf(error, "");
    }
  }

  /** Shows the whole history, then goes on live. */
  load(sessionId: string, place: SessionPlace): Promise<SessionInfo> {
    return this.#inTurn(sessionId, () => this.#join("load", sessionId, place));
  }

  /** Goes on without showing the past. */
  resume(sessionId: string, place: SessionPlace): Promise<SessionInfo> {
    return this.#inTurn(sessionId, () => this.#join("resume", sessionId, place));
  }

  /** Removes a Session and all that belongs to it; one that is not there is removed already. */
  async remove(sessionId: string): Promise<void> {
    const closed = this.#owned.has(sessionId) ? this.close(sessionId) : this.#closing.get(sessionId)?.closed;
    await closed?.catch(() => {});
    try {
      await this.#options.host.sessions.remove(sessionId);
    } catch (error) {
      throw sessionErrorOf(error, sessionId);
    }
  }

  /** Queues a prompt and waits for its answer. */
  prompt(sessionId: string, draft: Draft, signal: AbortSignal): Promise<PromptAnswer> {
    return this.#get(sessionId).prompt(draft, signal);
  }

  /** Cancels what is known of a Session now; an unknown one is no error: a notification has no answer. */
  cancel(sessionId: string): void {
    this.#owned.get(sessionId)?.cancel();
  }

  /** Changes one setting and returns all of them. */
  configure(sessionId: string, change: ConfigChange, meta?: Meta): Promise<Config> {
    return this.#get(sessionId).configure(change, meta);
  }

  /** Whether this connection owns a Session. */
  owns(sessionId: string): boolean {
    return this.#owned.has(sessionId);
  }

  /** Gives a Session up at once; a second close shares the first. */
  close(sessionId: string): Promise<void> {
    const closing = this.#closing.get(sessionId);
    if (closing !== undefined) return closing.closed;
    const session = this.#get(sessionId);
    this.#owned.delete(sessionId);
    const closed = session.close().finally(() => this.#closing.delete(sessionId));
    this.#closing.set(sessionId, { session, closed });
    return closed;
  }

  /** The response that names the Session is on its way. */
  announce(sessionId: string): void {
    this.#owned.get(sessionId)?.announce();
  }

  /** The Client is gone: releases everything without waiting for the Host. */
  async shutdown(): Promise<void> {
    this.#over.abort();
    for (const session of this.#owned.values()) session.shutdown();
    for (const { session } of this.#closing.values()) session.shutdown();
    this.#owned.clear();
    await within(
      this.#options.clock,
      LIMITS.closeMs,
      "closing the Host's connection",
      this.#options.host.close(),
    )
      .catch((error) =>
        this.#options.log.warn("the Host did not close its connection", { reason: String(error) })
      );
  }

  async #join(mode: "load" | "resume", sessionId: string, request: SessionPlace): Promise<SessionInfo> {
    const { files, host } = this.#options;
    const place = await this.#place(request);
    try {
      const info = await host.sessions.get(sessionId);
      // An Engine may call the folder of a Session that it kept by another of its names.
      const named = info.cwd === place.cwd || await files.directory(info.cwd).catch(() => "") === place.cwd;
      if (!named) {
        throw new SessionError(
          "invalid_params",
          `"cwd" is not the working directory that this Session was created with: ${request.cwd}`,
          { sessionId },
        );
      }
      // What is being closed is given back first, so that its release does not end what begins here.
      await this.#closing.get(sessionId)?.closed.catch(() => {});
      if (this.#over.signal.aborted) throw new ClientGone();
      return await this.#joined(mode, place, info);
    } catch (error) {
      throw sessionErrorOf(error, sessionId);
    }
  }

  /** Joins a Session that is owned, or becomes its owner, unless that fails. */
  async #joined(mode: "load" | "resume", place: SessionPlace, info: SessionInfo): Promise<SessionInfo> {
    const { sessionId } = info;
    const owned = this.#owned.get(sessionId);
    const session = owned ?? new ClientSession(info, this.#options);
    this.#owned.set(sessionId, session);
    try {
      const joined = await session.join(mode, place);
      this.#watch();
      return joined;
    } catch (error) {
      if (owned === undefined && this.#owned.get(sessionId) === session) {
        this.#owned.delete(sessionId);
        session.abandon();
      }
      throw error;
    }
  }

  /** Loads and resumes of one Session follow one another. */
  #inTurn<T>(sessionId: string, join: () => Promise<T>): Promise<T> {
    const before = this.#joins.get(sessionId) ?? Promise.resolve();
    const joined = before.then(join);
    const over: Promise<unknown> = joined.catch(() => {}).finally(() => {
      if (this.#joins.get(sessionId) === over) this.#joins.delete(sessionId);
    });
    this.#joins.set(sessionId, over);
    return joined;
  }

  async #place(request: SessionPlace): Promise<SessionPlace> {
    const { files } = this.#options;
    const cwd = await files.directory(request.cwd);
    const roots: string[] = [];
    for (const root of request.roots) roots.push(await files.directory(root));
    const { mcpServers, meta } = request;
    return { cwd, roots, mcpServers, ...(meta !== undefined && { meta }) };
  }

  async #find(sessionId: string): Promise<SessionInfo | undefined> {
    const { host, clock } = this.#options;
    for (let attempt = 0; attempt < LIMITS.queryTries; attempt++) {
      try {
        return await within(clock, LIMITS.queryMs, "looking for the Session", host.sessions.get(sessionId));
      } catch (error) {
        // An authoritative "not there" may still be overtaken by the lost request: only a later try can tell.
        if (error instanceof HostError && error.dispatch === "answered" && error.code !== "not_found") {
          return undefined;
        }
        await clock.sleep(50 * 2 ** attempt, this.#over.signal);
      }
    }
    return undefined;
  }

  #own(info: SessionInfo): SessionInfo {
    const session = new ClientSession(info, this.#options);
    session.named(info);
    this.#owned.set(info.sessionId, session);
    this.#watch();
    return info;
  }

  #get(sessionId: string): ClientSession {
    const session = this.#owned.get(sessionId);
    if (session !== undefined) return session;
    throw new SessionError(
      "unknown_session",
      "This connection has no such Session; create, load or resume it first",
      {
        sessionId,
      },
    );
  }

  /** Follows changes of owned Sessions that have no Subscription. One feed a connection, from the first Session on. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const follow = async () => {
      for await (const change of this.#options.host.watch(this.#over.signal)) {
        if (change.type === "changed") this.#owned.get(change.info.sessionId)?.heard(change.info);
      }
    };
    follow().catch((error) => {
      if (!this.#over.signal.aborted) {
        this.#options.log.warn("changes are not followed any more", { reason: String(error) });
      }
    }).finally(() => this.#watching = false);
  }
}
