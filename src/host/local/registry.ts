import type { Engine } from "../../engine/contract.ts";
import type { SessionInfo } from "../contract.ts";
import type { SessionState, SessionStore, Store } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import type { SessionActivity } from "./activity.ts";
import type { OperationGives, OperationName, OperationOf } from "./operations.ts";
import { recover } from "./recovery.ts";
import { Session } from "./session.ts";
import type { HostParts } from "./works.ts";

/** What a {@linkcode Registry} works with. */
export interface RegistryOptions {
  readonly store: Store;
  readonly engineOf: (engineId: string) => Engine | undefined;
  readonly parts: HostParts;
}

/** The Sessions that this process holds. Takes hold of one when an operation needs it, and never twice at a time. */
export class Registry {
  readonly #options: RegistryOptions;
  /** Sessions that are held, or are being taken hold of. */
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Sessions that are being let go of or removed: everybody waits until that is done. */
  readonly #leaving = new Map<string, Promise<void>>();
  #state: "open" | "closed" = "open";
  /** The listing entries of those that are held, as they are now. */
  readonly #held = new Map<string, Session>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get store(): Store {
    return this.#options.store;
  }

  /** Creates a Session and holds it. */
  async create(info: SessionInfo): Promise<void> {
    const { sessionId } = info;
    for (let gone; (gone = this.#leaving.get(sessionId)) !== undefined;) await gone;
    if (this.#sessions.has(sessionId)) {
      throw new HostError("conflict", `There is a Session "${sessionId}" already`, { data: { sessionId } });
    }
    const state = { info, unended: [], grants: [], watermark: 0, last: 0, open: [] };
    await this.#enter(sessionId, async () => this.#make(await this.store.create(info), state));
  }

  /** Asks a Session, which is held for that where it is not yet. Operations take effect in the order of the calls. */
  async ask<N extends OperationName>(
    sessionId: string,
    name: N,
    of: OperationOf<N>,
  ): Promise<OperationGives<N>> {
    for (;;) {
      for (let gone; (gone = this.#leaving.get(sessionId)) !== undefined;) await gone;
      const session = await (this.#sessions.get(sessionId) ?? this.#enter(sessionId, () =>
        this.#hold(sessionId)));
      const reply = session.ask(name, of);
      if (reply !== undefined) return await reply;
    }
  }

  /**
   * Tells a Session that a connection is done with it. Does not take hold of one for that. Where nobody else needs the Session it is
   * let go of when this resolves, so that another process can have it.
   */
  async release(sessionId: string, connectionId: string): Promise<void> {
    const session = await this.#sessions.get(sessionId)?.catch(() => undefined);
    await session?.ask("release", { connectionId });
    await this.#leaving.get(sessionId);
  }

  /** Releases every Session that is held now. Failures are logged. */
  async releaseAll(connectionId: string): Promise<void> {
    await Promise.all(
      [...this.#sessions.keys()].map((sessionId) => this.#try(() => this.release(sessionId, connectionId))),
    );
  }

  /** The present listing entry of a Session that is held. */
  held(sessionId: string): SessionInfo | undefined {
    return this.#held.get(sessionId)?.info;
  }

  /** The connection that what is said about a Session is for, where this process holds it. */
  viewer(sessionId: string): string | undefined {
    return this.#held.get(sessionId)?.viewer;
  }

  /** What goes on in the Sessions that are held. */
  get activity(): readonly SessionActivity[] {
    return [...this.#held.values()].map((session) => session.activity);
  }

  /** Removes a Session with all that it has. Silent where there is none. */
  async remove(sessionId: string): Promise<void> {
    for (let gone; (gone = this.#leaving.get(sessionId)) !== undefined;) await gone;
    await this.#leaveUntil(sessionId, this.#removed(sessionId, this.#sessions.get(sessionId)));
  }

  /** Ends all Runs and lets go of all Sessions; none is taken hold of any more. Failures are logged. */
  async close(): Promise<void> {
    this.#state = "closed";
    const drained = [...this.#sessions.values()].map((held) =>
      this.#try(async () => {
        const session = await held;
        await session.ask("drain", {});
        await session.gone;
      })
    );
    await Promise.all([...drained, ...this.#leaving.values()]);
  }

  async #try(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#options.parts.log.warn("A Session could not be let go", { error: String(error) });
    }
  }

  async #removed(sessionId: string, held: Promise<Session> | undefined): Promise<void> {
    const session = await held?.catch(() => undefined);
    await session?.ask("remove", {});
    await session?.gone;
    await this.store.remove(sessionId);
  }

  /** Keeps everybody out until something is done. */
  async #leaveUntil(sessionId: string, done: Promise<void>): Promise<void> {
    const gone = done.catch(() => {}).then(() => {
      this.#leaving.delete(sessionId);
    });
    this.#leaving.set(sessionId, gone);
    this.#sessions.delete(sessionId);
    this.#held.delete(sessionId);
    await done.finally(() => gone);
  }

  /** Everybody waits for the same promise, so that they go on in the order in which they came. */
  #enter(sessionId: string, make: () => Promise<Session>): Promise<Session> {
    if (this.#state === "closed") {
      throw new HostError("unavailable", "The Host is shutting down", { dispatch: "not_sent" });
    }
    const session = make().catch((error) => {
      this.#sessions.delete(sessionId);
      throw error;
    });
    this.#sessions.set(sessionId, session);
    return session;
  }

  async #hold(sessionId: string): Promise<Session> {
    const store = await this.store.hold(sessionId);
    try {
      return this.#make(store, await recover(store, this.#options.parts));
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  #make(store: SessionStore, state: SessionState): Session {
    const { sessionId, engineId } = state.info;
    const session = new Session({
      ...this.#options.parts,
      store,
      state,
      engine: this.#options.engineOf(engineId),
      leaving: () => {
        // A removal keeps everybody out for longer than the Session takes to leave.
        if (!this.#leaving.has(sessionId)) this.#leaveUntil(sessionId, session.gone);
      },
    });
    this.#held.set(sessionId, session);
    return session;
  }
}
