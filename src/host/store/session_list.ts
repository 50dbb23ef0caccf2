import type { Log } from "../../model/log.ts";
import type { SessionInfo } from "../contract.ts";
import type { IndexDb } from "./index_db.ts";
import type { IndexHealer } from "./index_healer.ts";
import type { SessionPlace } from "./state_folder.ts";

/**
 * The list of a state folder's Sessions as this process sees it. The Sessions' own databases are the truth: a change that the
 * list cannot take now is kept here and taken later.
 */
export class SessionList {
  readonly #index: IndexDb;
  readonly #healer: IndexHealer;
  readonly #log: Log;
  /** Entries still to be written; undefined for one to be dropped. */
  readonly #late = new Map<string, SessionInfo | undefined>();

  constructor(index: IndexDb, healer: IndexHealer, log: Log) {
    this.#index = index;
    this.#healer = healer;
    this.#log = log;
  }

  /** A page, newest first. */
  async page(
    query: { cwd?: string; cursor?: string; limit: number },
  ): Promise<{ sessions: readonly SessionInfo[]; next?: string }> {
    this.#catchUp();
    await this.#healer.heal();
    return this.#index.list(query);
  }

  /** One entry, known to the list or found in its folder. */
  async get(place: SessionPlace): Promise<SessionInfo | undefined> {
    return this.known(place.sessionId) ?? await this.#healer.adopt(place);
  }

  /** One entry, as far as the list goes. */
  known(sessionId: string): SessionInfo | undefined {
    this.#catchUp();
    return this.#late.get(sessionId) ?? this.#index.get(sessionId);
  }

  /** What an Engine calls those of its Sessions that are here. */
  keptAs(engineId: string): ReadonlySet<string> {
    this.#catchUp();
    const names = new Set(this.#index.keptAs(engineId));
    for (const info of this.#late.values()) {
      if (info?.engineId === engineId && info.keptAs !== undefined) names.add(info.keptAs);
    }
    return names;
  }

  /** Takes an entry, new or not. Never throws. */
  put(info: SessionInfo): void {
    this.#late.set(info.sessionId, info);
    this.#catchUp();
  }

  /** Drops an entry. Never throws. */
  forget(sessionId: string): void {
    this.#late.set(sessionId, undefined);
    this.#catchUp();
  }

  /** Closes it. */
  close(): void {
    this.#catchUp();
    this.#index.close();
  }

  #catchUp(): void {
    for (const [sessionId, info] of this.#late) {
      try {
        if (info === undefined) this.#index.delete(sessionId);
        else this.#index.put(info);
      } catch (error) {
        this.#log.warn("The list of Sessions could not be written and will be later", {
          sessionId,
          reason: error instanceof Error ? error.message : String(error),
        });
        return;
      }
      this.#late.delete(sessionId);
    }
  }
}
