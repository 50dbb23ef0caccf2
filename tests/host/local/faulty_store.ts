import type { SessionInfo } from "../../../src/host/contract.ts";
import type { SessionStore, Store, Write } from "../../../src/host/store/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";

/** What happens to a commit: it is passed on once this resolves, refused where it rejects. */
export type CommitHook = (batch: readonly Write[], sessionId: string) => Promise<void> | void;

/** A store in memory that notes what is asked of it and whose commits a test delays or refuses. */
export class FaultyStore implements Store {
  /** Operations that open or close something, in order. */
  readonly asked: string[] = [];
  /** Batches that were kept. */
  readonly batches: (readonly Write[])[] = [];
  onCommit: CommitHook = () => {};
  readonly #store: Store;

  constructor(store: Store = new MemoryStore()) {
    this.#store = store;
  }

  get storeId(): string {
    return this.#store.storeId;
  }

  list(query: { cwd?: string; cursor?: string; limit: number }): ReturnType<Store["list"]> {
    this.asked.push("list");
    return this.#store.list(query);
  }

  get(sessionId: string): Promise<SessionInfo | undefined> {
    this.asked.push(`get ${sessionId}`);
    return this.#store.get(sessionId);
  }

  keptAs(engineId: string): Promise<ReadonlySet<string>> {
    this.asked.push(`kept as ${engineId}`);
    return this.#store.keptAs(engineId);
  }

  async create(info: SessionInfo, first?: readonly Write[]): Promise<SessionStore> {
    this.asked.push(`create ${info.sessionId}`);
    return this.#wrap(await this.#store.create(info, first));
  }

  async hold(sessionId: string): Promise<SessionStore> {
    this.asked.push(`hold ${sessionId}`);
    return this.#wrap(await this.#store.hold(sessionId));
  }

  remove(sessionId: string): Promise<void> {
    this.asked.push(`remove ${sessionId}`);
    return this.#store.remove(sessionId);
  }

  close(): Promise<void> {
    this.asked.push("close");
    return this.#store.close();
  }

  #wrap(session: SessionStore): SessionStore {
    const { sessionId } = session;
    return {
      sessionId,
      artifacts: session.artifacts,
      load: () => session.load(),
      heads: (query) => session.heads(query),
      body: (seq, offset, length) => session.body(seq, offset, length),
      rows: (query) => session.rows(query),
      turn: (turnId) => session.turn(turnId),
      interaction: (interactionId) => session.interaction(interactionId),
      change: (changeId) => session.change(changeId),
      commit: async (batch) => {
        await this.onCommit(batch, sessionId);
        await session.commit(batch);
        this.batches.push(batch);
      },
      close: () => {
        this.asked.push(`close ${sessionId}`);
        return session.close();
      },
    };
  }
}

/** What a full disk looks like. */
export function diskFull(): HostError {
  return new HostError("persistence_failed", "Cannot write to the state folder: the disk is full");
}

/** A promise that a test settles. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
}

export function gate<T = void>(): Gate<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, open: resolve };
}

/** The same store, for a Host that leaves it open for the next one. */
export function unclosed<S extends Store>(store: S): S {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "close") return () => Promise.resolve();
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
