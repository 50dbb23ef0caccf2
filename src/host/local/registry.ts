import type { Engine } from "../../engine/contract.ts";
import type { ClientServices, SessionInfo, SessionPage } from "../contract.ts";
import type { SessionState, SessionStore, Store } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import type { SessionActivity } from "./activity.ts";
import { Archive, type Outside, type Taker } from "./archive.ts";
import { Listing, type ListRequest } from "./listing.ts";
import type { OperationGives, OperationName, OperationOf } from "./operations.ts";
import { recover } from "./recovery.ts";
import { Session } from "./session.ts";
import type { Inherited } from "./takeover.ts";
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

  /** Of Engines that were asked for their own Sessions, by their ids. */
  readonly #archives = new Map<string, { readonly engine: Engine; readonly archive: Archive }>();

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

  /** A page of all Sessions, newest first; where the Engine keeps some by itself, those too. */
  async list(engineId: string, request: ListRequest): Promise<SessionPage> {
    const archive = this.#archiveOf(engineId);
    const page = archive === undefined
      ? await this.#own(request)
      : await new Listing(this.store, archive).page(request);
    return { ...page, sessions: page.sessions.map((info) => this.held(info.sessionId) ?? info) };
  }

  /** A Session, here or with the Engine; undefined where there is none. */
  async find(
    engineId: string,
    sessionId: string,
    client: ClientServices | undefined,
  ): Promise<SessionInfo | undefined> {
    const own = this.held(sessionId) ?? await this.store.get(sessionId);
    return own ?? (await this.#archiveOf(engineId)?.find(sessionId, client))?.info;
  }

  /** Takes over a Session that only the Engine has. False where that does not have it either. */
  async adopt(engineId: string, sessionId: string, taker: Taker): Promise<boolean> {
    const archive = this.#archiveOf(engineId);
    const outside = await archive?.find(sessionId, taker.client);
    if (archive === undefined || outside === undefined) return false;
    for (let gone; (gone = this.#leaving.get(sessionId)) !== undefined;) await gone;
    // Whoever wants it too waits for the same.
    const held = this.#sessions.get(sessionId);
    if (held !== undefined) return await held.then(() => true);
    await this.#enter(sessionId, () => this.#adopt(archive, outside, taker));
    const { connectionId, mcpServers, meta } = taker;
    const info = await this.ask(sessionId, "keep", { connectionId, mcpServers, meta });
    this.#options.parts.announce(info);
    return true;
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

  /** Removes a Session with all that it has, here and with its Engine. Silent where there is none. */
  async remove(engineId: string, sessionId: string): Promise<void> {
    // One that is being taken over is removed as what it becomes.
    if (!this.#held.has(sessionId)) await this.#sessions.get(sessionId)?.catch(() => {});
    for (let gone; (gone = this.#leaving.get(sessionId)) !== undefined;) await gone;
    const archive = this.#archiveOf(engineId);
    const held = this.held(sessionId);
    if (archive === undefined && held?.keptAs === undefined) return await this.#vacate(sessionId);
    const own = held ?? await this.store.get(sessionId);
    const outside = own === undefined ? await archive?.find(sessionId, undefined) : undefined;
    if (outside !== undefined) return await archive?.remove(outside.kept.keptAs);
    await this.#vacate(sessionId);
    const { keptAs } = own ?? {};
    const keeper = own && this.#archiveOf(own.engineId);
    // It is gone here, which is what was asked for; what the Engine still has of it would be listed again.
    if (keptAs !== undefined && keeper !== undefined) await this.#try(() => keeper.remove(keptAs));
  }

  /** Ends all Runs and lets go of all Sessions; none is taken hold of any more. Failures are logged. */
  async close(): Promise<void> {
    this.#state = "closed";
    for (const { archive } of this.#archives.values()) archive.close();
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

  #vacate(sessionId: string): Promise<void> {
    return this.#leaveUntil(sessionId, this.#removed(sessionId, this.#sessions.get(sessionId)));
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

  /** What an Engine keeps by itself; undefined for one that keeps nothing. */
  #archiveOf(engineId: string): Archive | undefined {
    const { store, engineOf, parts } = this.#options;
    const engine = engineOf(engineId);
    if (engine?.archive === undefined) return undefined;
    const known = this.#archives.get(engineId);
    // It may be another one by the same name.
    if (known?.engine === engine) return known.archive;
    const archive = new Archive(engine, engine.archive, store, parts);
    this.#archives.set(engineId, { engine, archive });
    return archive;
  }

  async #own({ cwd, cursor, limit }: ListRequest): Promise<SessionPage> {
    const { sessions, next } = await this.store.list({ cwd, cursor, limit });
    return { sessions, cursor: next };
  }

  async #adopt(archive: Archive, outside: Outside, taker: Taker): Promise<Session> {
    const { info, writes, state, inherited } = await archive.take(outside, taker);
    try {
      return this.#make(await this.store.create(info, writes), state, inherited);
    } catch (error) {
      await inherited.session.close();
      // Another process was faster: it has the Session.
      if (error instanceof HostError && error.code === "conflict") return await this.#hold(info.sessionId);
      throw error;
    }
  }

  #make(store: SessionStore, state: SessionState, inherited?: Inherited): Session {
    const { sessionId, engineId } = state.info;
    const session = new Session({
      ...this.#options.parts,
      store,
      state,
      engine: this.#options.engineOf(engineId),
      inherited,
      leaving: () => {
        // A removal keeps everybody out for longer than the Session takes to leave.
        if (!this.#leaving.has(sessionId)) this.#leaveUntil(sessionId, session.gone);
      },
    });
    this.#held.set(sessionId, session);
    return session;
  }
}
