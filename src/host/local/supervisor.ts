import type { Clock } from "../../model/clock.ts";
import type { Config } from "../../model/config.ts";
import type { Engine, EngineContext, EngineSession } from "../../engine/contract.ts";
import type { Meta } from "../../model/json.ts";
import type { Log } from "../../model/log.ts";
import { HostError } from "../errors.ts";
import type { Inherited } from "./takeover.ts";

/** What a Session lends its Engine; the supervisor makes an {@linkcode EngineContext} of it that dies with the Engine's Session. */
export type EngineGround = Omit<EngineContext, "sessionId">;

/** An Engine's Session that was asked for. */
interface Opened {
  readonly session: Promise<EngineSession>;
  /** Aborts when nothing that this Engine's Session says counts any more. */
  readonly retired: AbortController;
}

/**
 * Opens an Engine's Session when a Turn first needs one, replaces one that hangs or whose bindings are outdated, and closes it.
 * Whoever asks never waits longer than `closeMs` for an Engine to close.
 */
export class Supervisor {
  readonly #engine: Engine | undefined;
  readonly #sessionId: string;
  readonly #ground: () => EngineGround;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #closeMs: number;
  #opened: Opened | undefined;
  #outdated: Opened | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(
    options: {
      engine: Engine | undefined;
      sessionId: string;
      /** What the Session is bound to now. */
      ground: () => EngineGround;
      /** What an Engine has open already. */
      inherited?: Inherited;
      clock: Clock;
      log: Log;
      closeMs: number;
    },
  ) {
    this.#engine = options.engine;
    this.#sessionId = options.sessionId;
    this.#ground = options.ground;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#closeMs = options.closeMs;
    if (options.inherited !== undefined) this.#opened = this.#inherit(options.inherited);
  }

  /** The Engine's Session, opened if need be. Rejects with what the Engine threw; the next call tries again. */
  session(): Promise<EngineSession> {
    this.#opened ??= this.#open();
    return this.#opened.session;
  }

  /** Tells an open Engine the new settings. Resolves with whether it took them; nobody has to wait for it. */
  async configure(config: Config, meta?: Meta): Promise<boolean> {
    const opened = this.#opened;
    if (opened === undefined) return true;
    try {
      await (await opened.session).configure(config, meta);
      return true;
    } catch (error) {
      this.#log.warn("The agent refused a setting", { sessionId: this.#sessionId, error: String(error) });
      return opened.retired.signal.aborted;
    }
  }

  /** Lets go of the Engine's Session: the next Turn opens another one once this one is closed. */
  retire(): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    opened.retired.abort();
    this.#closing = Promise.all([this.#closing, this.#closed(opened)]).then(() => {});
  }

  /** What the Engine's Session was opened with is not true any more: the next Turn opens another one. */
  outdate(): void {
    this.#outdated = this.#opened;
  }

  /** Retires an outdated Session of the Engine. Called when no Run is at work in it. */
  renew(): void {
    if (this.#outdated === this.#opened) this.retire();
  }

  /** Retires it and waits for that. */
  close(): Promise<void> {
    this.retire();
    return this.#closing;
  }

  #inherit({ session, settle }: Inherited): Opened {
    const retired = new AbortController();
    settle(contextOf(this.#sessionId, this.#ground(), retired.signal));
    return { session: Promise.resolve(session), retired };
  }

  #open(): Opened {
    const retired = new AbortController();
    const context = contextOf(this.#sessionId, this.#ground(), retired.signal);
    const session = this.#closing.then(() => {
      if (this.#engine !== undefined) return this.#engine.open(context);
      throw new HostError(
        "unavailable",
        "The agent of this Session is not configured here: name it with --agent",
      );
    });
    const opened = { session, retired };
    session.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  async #closed({ session }: Opened): Promise<void> {
    const waited = new AbortController();
    const closed = session.then((open) => open.close())
      .catch((error) => this.#log.debug("The agent's Session did not close", { error: String(error) }))
      .finally(() => waited.abort());
    await Promise.race([closed, this.#clock.sleep(this.#closeMs, waited.signal).catch(() => {})]);
  }
}

/** A context that ignores an Engine's Session after its retirement. */
function contextOf(sessionId: string, ground: EngineGround, retired: AbortSignal): EngineContext {
  const unless = (call: () => Promise<void>): Promise<void> => retired.aborted ? Promise.resolve() : call();
  return {
    ...ground,
    sessionId,
    state: (value, keptAs) => unless(() => ground.state(value, keptAs)),
    commands: (commands, meta) => unless(() => ground.commands(commands, meta)),
    usage: (usage) => unless(() => ground.usage(usage)),
    title: (title, meta) => unless(() => ground.title(title, meta)),
    configured: (options, metas) => unless(() => ground.configured(options, metas)),
    elicited: (elicitationId) => unless(() => ground.elicited(elicitationId)),
    beside: (work) => retired.aborted ? Promise.resolve(undefined) : ground.beside(work),
  };
}
