import type { EngineProfile, McpServer, RuntimeHost, SessionInfo } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";
import type { Config, ConfigChange } from "../model/config.ts";
import type { Meta } from "../model/json.ts";
import { Attachment } from "./attachment.ts";
import { within } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import { SessionError } from "./errors.ts";
import { sessionErrorOf } from "./failures.ts";
import { Join } from "./join.ts";
import type { ClientPort, Clock, Files, Ids, Log } from "./ports.ts";
import { Prompt, type PromptAnswer } from "./prompt.ts";
import type { Run } from "../model/run.ts";
import { steer, wantsToSteer } from "./steer.ts";

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

interface Waiting {
  readonly prompt: Prompt;
  readonly answer: PromiseWithResolvers<PromptAnswer>;
}

/** A Session as one connection owns it: its prompts in order, its Attachment, its settings. */
export class ClientSession {
  readonly #options: SessionParts;
  readonly #attachment: Attachment;
  readonly #profile: EngineProfile;
  #info: SessionInfo;
  #waiting: Waiting[] = [];
  /** Words on their way to the Turn that works. */
  readonly #steering = new Set<AbortController>();
  #running: Prompt | undefined;
  /** Resolves when the prompt that runs is answered. */
  #idle: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** Takes a Session that the Host created or bound for this connection. */
  constructor(info: SessionInfo, options: SessionParts) {
    this.#info = info;
    this.#options = options;
    this.#profile = options.host.describe(info.engineId);
    this.#attachment = new Attachment({ ...options, sessionId: info.sessionId });
  }

  /** The Session as last heard of. */
  get info(): SessionInfo {
    const { config } = this.#attachment.bulletin;
    return config === undefined ? this.#info : { ...this.#info, config };
  }

  /** Takes what a feed or a lookup said; shows what the Client does not know yet when no Subscription does. */
  heard(info: SessionInfo): void {
    this.#info = info;
    if (this.#attachment.attached || this.#closing !== undefined) return;
    const { bulletin } = this.#attachment;
    const { config, commands, title, metas = {} } = info;
    bulletin.show({ type: "config", config, meta: metas.options, modeMeta: metas.mode });
    bulletin.show({ type: "commands", commands, meta: metas.commands });
    if (title !== undefined) bulletin.show({ type: "title", title, meta: metas.title });
  }

  /** The response names the Session with these settings: nothing about it may be shown before it is on its way. */
  named(info: SessionInfo): void {
    this.#info = info;
    this.#attachment.bulletin.known({ type: "config", config: info.config });
    this.#attachment.bulletin.hold();
  }

  /** The response is on its way. */
  announce(): void {
    this.#attachment.release();
    this.heard(this.#info);
  }

  /** Queues a prompt; prompts of a Session run one after the other. The signal cancels this one alone. */
  prompt(draft: Draft, signal: AbortSignal): Promise<PromptAnswer> {
    if (this.#closing !== undefined) return Promise.reject(this.#gone());
    const live = this.#running !== undefined && wantsToSteer(draft) ? this.#attachment.foreground : undefined;
    return live === undefined ? this.#enqueue(draft, signal) : this.#steer(draft, live.run, signal);
  }

  /** Words for the Turn that works; where it takes none they are a prompt like any other. */
  async #steer(draft: Draft, run: Run, signal: AbortSignal): Promise<PromptAnswer> {
    const { sessionId, cwd, roots } = this.#info;
    const cancel = new AbortController();
    const either = AbortSignal.any([signal, cancel.signal]);
    this.#steering.add(cancel);
    try {
      const options = { ...this.#options, sessionId, roots: [cwd, ...roots], profile: this.#profile };
      if (await steer(draft, run, options, either)) {
        return { stopReason: "end_turn", meta: { gangway: { steered: run.turnId } } };
      }
    } catch (error) {
      if (!either.aborted) throw sessionErrorOf(error, sessionId);
    } finally {
      this.#steering.delete(cancel);
    }
    return either.aborted ? { stopReason: "cancelled" } : await this.#enqueue(draft, signal);
  }

  #enqueue(draft: Draft, signal: AbortSignal): Promise<PromptAnswer> {
    if (this.#closing !== undefined) return Promise.reject(this.#gone());
    if (this.#waiting.length >= LIMITS.waitingPrompts) {
      return Promise.reject(
        new SessionError(
          "queue_full",
          `${LIMITS.waitingPrompts} prompts wait already; wait for answers or cancel`,
        ),
      );
    }
    const { sessionId, cwd, roots } = this.#info;
    const waiting: Waiting = {
      prompt: new Prompt(draft, {
        ...this.#options,
        sessionId,
        roots: [cwd, ...roots],
        profile: this.#profile,
        attachment: this.#attachment,
      }),
      answer: Promise.withResolvers(),
    };
    const cancel = () => this.#cancel(waiting);
    signal.addEventListener("abort", cancel, { once: true });
    waiting.answer.promise.catch(() => {}).finally(() => signal.removeEventListener("abort", cancel));
    this.#waiting.push(waiting);
    if (signal.aborted) cancel();
    this.#next();
    return waiting.answer.promise;
  }

  /** Cancels every prompt that is known now, and the Run in the foreground, whoever started it. Background Runs go on. */
  cancel(): void {
    this.#cancelAll();
    this.#attachment.stopForeground();
  }

  /** Changes one setting. Meets concurrent changes of other fields by trying again on the newer configuration. */
  async configure(change: ConfigChange, meta?: Meta): Promise<Config> {
    const { host, ids } = this.#options;
    const { sessionId } = this.#info;
    for (let attempt = 1;; attempt++) {
      const expectedRevision = this.info.config.revision;
      try {
        const config = await host.sessions.configure({
          sessionId,
          expectedRevision,
          changeId: ids.next(),
          changes: [change],
          ...(meta !== undefined && { meta }),
        });
        this.#info = { ...this.#info, config };
        this.#attachment.bulletin.show({ type: "config", config });
        // What the Client has read by then may be newer than what this change made.
        return this.info.config;
      } catch (error) {
        const conflict = error instanceof HostError && error.code === "revision_conflict" &&
          error.dispatch === "answered";
        if (!conflict || attempt >= LIMITS.configureTries) throw sessionErrorOf(error, sessionId);
        const { config } = await host.sessions.get(sessionId).catch((cause) => {
          throw sessionErrorOf(cause, sessionId);
        });
        this.#info = { ...this.#info, config };
        this.#attachment.bulletin.show({ type: "config", config });
      }
    }
  }

  /** Loads (with the whole history) or resumes (without) after the Host bound the new roots and MCP servers. */
  async join(
    mode: "load" | "resume",
    binding: { roots: readonly string[]; mcpServers: readonly McpServer[]; meta?: Meta },
  ): Promise<SessionInfo> {
    const { host, client } = this.#options;
    const { sessionId } = this.#info;
    try {
      const info = await host.sessions.bind({ sessionId, ...binding });
      if (this.#closing !== undefined) throw this.#gone();
      this.named(info);
      await this.#attachment.join(new Join({ ...this.#options, mode, sessionId }));
      await client.flushed();
      if (this.#closing !== undefined) throw this.#gone();
      return this.info;
    } catch (error) {
      throw sessionErrorOf(error, sessionId);
    }
  }

  /**
   * Stops what runs, background Runs too, and releases everything. The Session is closed for its callers at once; a second close
   * shares the first. A Stop that failed is reported after everything was released.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends at once, without waiting for the Host: the Client is gone. A Turn that was started goes on, as long as its Host does. */
  shutdown(): void {
    this.#closing ??= Promise.resolve();
    this.#cancelAll("leave");
    this.#attachment.close(this.#gone());
  }

  /** It could not be joined: gives it back and lets go of what runs in it. */
  abandon(): void {
    const { host, log } = this.#options;
    const { sessionId } = this.#info;
    this.shutdown();
    host.sessions.release(sessionId)
      .catch((error) => log.warn("the Host did not release a Session", { sessionId, reason: String(error) }));
  }

  async #close(): Promise<void> {
    const { host, clock, log } = this.#options;
    const { sessionId } = this.#info;
    this.#cancelAll();
    const stopped = this.#attachment.stopAll();
    await within(clock, LIMITS.closeMs, "stopping the Session's Turns", stopped, this.#attachment.signal)
      .catch(() => {});
    const { unstopped } = this.#attachment;
    this.#attachment.close(this.#gone());
    await within(clock, LIMITS.closeMs, "releasing the Session", host.sessions.release(sessionId))
      .catch((error) => log.warn("the Host did not release a Session", { sessionId, reason: String(error) }));
    // What is said about the Session comes before its close.
    await this.#idle;
    if (unstopped.length > 0) {
      throw new SessionError(
        "host_unavailable",
        "The Session is closed, but the Host did not acknowledge the Stop of its running Turn",
        { sessionId, turns: unstopped.map(({ turnId }) => turnId) },
      );
    }
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return;
    this.#running = waiting.prompt;
    this.#idle = waiting.prompt.run().then(waiting.answer.resolve, waiting.answer.reject).finally(() => {
      this.#running = undefined;
      this.#next();
    });
  }

  #cancelAll(how: "cancel" | "leave" = "cancel"): void {
    for (const words of this.#steering) words.abort(new Error("The prompt was cancelled"));
    for (const waiting of [...this.#waiting]) this.#cancel(waiting);
    this.#running?.[how]();
  }

  #cancel(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index < 0) return waiting.prompt.cancel();
    this.#waiting.splice(index, 1);
    waiting.answer.resolve({ stopReason: "cancelled" });
  }

  #gone(): SessionError {
    const { sessionId } = this.#info;
    return new SessionError("unknown_session", "The Session is closed on this connection; load it to go on", {
      sessionId,
    });
  }
}
