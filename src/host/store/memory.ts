import type { SessionInfo } from "../contract.ts";
import type { SessionStore, Store, Write } from "./contract.ts";
import { decodeCursor, encodeCursor, newestFirst } from "./cursor.ts";
import {
  batchRefused,
  checkedId,
  sessionBusy,
  sessionExists,
  sessionMissing,
  storeClosed,
} from "./failure.ts";
import { MemoryRecord, MemorySession } from "./memory_session.ts";

/** Sessions in the memory of this process: gone with it, and seen by nobody else. */
export class MemoryStore implements Store {
  readonly storeId: string = crypto.randomUUID();
  readonly #records = new Map<string, MemoryRecord>();
  readonly #held = new Map<string, MemorySession>();
  #closed = false;

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async list(
    query: { cwd?: string; cursor?: string; limit: number },
  ): Promise<{ sessions: readonly SessionInfo[]; next?: string }> {
    this.#check();
    const scope = { storeId: this.storeId, cwd: query.cwd };
    const from = query.cursor === undefined ? undefined : decodeCursor(scope, query.cursor);
    const found: SessionInfo[] = [];
    for (const { info } of this.#records.values()) {
      if (query.cwd !== undefined && info.cwd !== query.cwd) continue;
      if (from !== undefined && newestFirst(info, from) <= 0) continue;
      found.push(info);
    }
    found.sort(newestFirst);
    const sessions = found.slice(0, query.limit);
    const last = sessions.at(-1);
    if (last === undefined || found.length === sessions.length) return { sessions };
    return { sessions, next: encodeCursor(scope, last) };
  }

  /** As the contract says. */
  // deno-lint-ignore require-await
  async get(sessionId: string): Promise<SessionInfo | undefined> {
    this.#check();
    return this.#records.get(checkedId("Session", sessionId))?.info;
  }

  // deno-lint-ignore require-await
  async keptAs(engineId: string): Promise<ReadonlySet<string>> {
    this.#check();
    const infos = [...this.#records.values()].map(({ info }) => info);
    return new Set(infos.flatMap((info) => info.engineId === engineId ? info.keptAs ?? [] : []));
  }

  // deno-lint-ignore require-await
  async create(info: SessionInfo, first: readonly Write[] = []): Promise<SessionStore> {
    this.#check();
    const sessionId = checkedId("Session", info.sessionId);
    if (this.#records.has(sessionId)) throw sessionExists(sessionId);
    const record = new MemoryRecord(info);
    try {
      record.apply(first);
    } catch (cause) {
      throw batchRefused(sessionId, cause instanceof Error ? cause.message : String(cause));
    }
    this.#records.set(sessionId, record);
    return this.#hand(sessionId, record);
  }

  // deno-lint-ignore require-await
  async hold(sessionId: string): Promise<SessionStore> {
    this.#check();
    const record = this.#records.get(checkedId("Session", sessionId));
    if (record === undefined) throw sessionMissing(sessionId);
    if (this.#held.has(sessionId)) throw sessionBusy(sessionId, { pid: Deno.pid });
    return this.#hand(sessionId, record);
  }

  // deno-lint-ignore require-await
  async remove(sessionId: string): Promise<void> {
    this.#check();
    if (this.#held.has(checkedId("Session", sessionId))) throw sessionBusy(sessionId, { pid: Deno.pid });
    this.#records.delete(sessionId);
  }

  /** As the contract says. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#held.values()].map((session) => session.close()));
    this.#records.clear();
  }

  #hand(sessionId: string, record: MemoryRecord): MemorySession {
    const session = new MemorySession(sessionId, record, () => this.#held.delete(sessionId));
    this.#held.set(sessionId, session);
    return session;
  }

  #check(): void {
    if (this.#closed) throw storeClosed("The store");
  }
}
