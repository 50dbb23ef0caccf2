import type { Log } from "../../model/log.ts";
import type { SessionInfo } from "../contract.ts";
import { HostError } from "../errors.ts";
import { Blank } from "./blank.ts";
import type { SessionStore, Store, Write } from "./contract.ts";
import { checkedId, sessionExists, sessionMissing, storeClosed } from "./failure.ts";
import { FolderArtifacts } from "./folder_artifacts.ts";
import { FolderSession } from "./folder_session.ts";
import { openIndex } from "./index_db.ts";
import { IndexHealer, TOMB } from "./index_healer.ts";
import { SessionDb } from "./session_db.ts";
import { SessionList } from "./session_list.ts";
import { SessionLock } from "./session_lock.ts";
import { SESSION_SCHEMA } from "./session_schema.ts";
import { type SessionPlace, StateFolder, syncFolder } from "./state_folder.ts";
import { storageFailure } from "./storage_failure.ts";
import { WrittenAhead } from "./written_ahead.ts";

/**
 * A moment around a durable step. `_begun`: asked for, and nothing of it is done. `_done`: durable, and the caller does not know
 * yet.
 */
export type StorePoint = `${"create" | "commit" | "seal" | "remove"}_${"begun" | "done"}`;

/** What {@linkcode openFolderStore} needs. */
export interface FolderStoreOptions {
  /** Absolute path of the state folder; made where it is missing. */
  readonly folder: string;
  /** Where repairs and damage are reported. */
  readonly log: Log;
  /** How other processes name the holder of a Session; `gangway` if left out. */
  readonly program?: string;
  /** Called at each {@linkcode StorePoint}, for tests that end the process right there. Must not throw. */
  readonly failpoint?: (point: StorePoint, sessionId: string) => void;
}

/**
 * Opens the Sessions of a state folder, which several processes may do at once. Throws a HostError that names the folder and
 * the flag to change: `unavailable` without Deno's permission, else `persistence_failed`; `data.reason` says why.
 */
export async function openFolderStore(options: FolderStoreOptions): Promise<Store> {
  const folder = new StateFolder(options.folder);
  folder.prepare();
  const index = await openIndex(folder, options.log);
  const healer = new IndexHealer(folder, index, options);
  return new FolderStore(folder, index.storeId, new SessionList(index, healer, options.log), options);
}

class FolderStore implements Store {
  readonly storeId: string;
  readonly folder: string;
  readonly #state: StateFolder;
  readonly #list: SessionList;
  readonly #options: FolderStoreOptions;
  readonly #blank = new Blank(SESSION_SCHEMA);
  readonly #held = new Set<FolderSession>();
  #closed = false;

  constructor(state: StateFolder, storeId: string, list: SessionList, options: FolderStoreOptions) {
    this.storeId = storeId;
    this.folder = state.path;
    this.#state = state;
    this.#list = list;
    this.#options = options;
  }

  async list(
    query: { cwd?: string; cursor?: string; limit: number },
  ): Promise<{ sessions: readonly SessionInfo[]; next?: string }> {
    this.#check();
    return await this.#list.page(query);
  }

  async get(sessionId: string): Promise<SessionInfo | undefined> {
    return await this.#list.get(this.#place(sessionId));
  }

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async keptAs(engineId: string): Promise<ReadonlySet<string>> {
    this.#check();
    return this.#list.keptAs(engineId);
  }

  async create(info: SessionInfo, first: readonly Write[] = []): Promise<SessionStore> {
    const place = this.#place(info.sessionId);
    this.#options.failpoint?.("create_begun", info.sessionId);
    try {
      Deno.mkdirSync(place.path, { mode: 0o700 });
    } catch (cause) {
      if (cause instanceof Deno.errors.AlreadyExists) throw sessionExists(info.sessionId);
      throw storageFailure(cause, place);
    }
    // Its name comes to the disk while the file is made.
    const named = syncFolder(this.#state.sessions);
    named.catch(() => {});
    let session: FolderSession | undefined;
    try {
      session = this.#take(place, (place) => SessionDb.create(place, this.#blank, info, first));
      await named;
    } catch (cause) {
      await session?.close();
      await Deno.remove(place.path, { recursive: true });
      throw storageFailure(cause, place);
    }
    this.#list.put(info);
    this.#options.failpoint?.("create_done", info.sessionId);
    return session;
  }

  async hold(sessionId: string): Promise<SessionStore> {
    const place = this.#place(sessionId);
    try {
      return await this.#resume(this.#take(place, (place) => new SessionDb(place)));
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const unfinished = error.data.reason === "empty" && this.#list.known(sessionId) === undefined;
      if (error.code !== "not_found" && !unfinished) throw error;
      this.#list.forget(sessionId);
      throw sessionMissing(sessionId);
    }
  }

  async remove(sessionId: string): Promise<void> {
    const place = this.#place(sessionId);
    this.#options.failpoint?.("remove_begun", sessionId);
    try {
      const lock = SessionLock.take(place, this.#options.program);
      try {
        await this.#bury(place, lock);
      } finally {
        lock.release();
      }
    } catch (cause) {
      if (!(cause instanceof HostError && cause.code === "not_found")) throw storageFailure(cause, place);
    }
    // After the files, so that there is room on a full disk.
    this.#list.forget(sessionId);
    this.#options.failpoint?.("remove_done", sessionId);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await Promise.all([...this.#held].map((session) => session.close()));
    } finally {
      this.#list.close();
    }
  }

  /** Takes hold of the Session in a folder with its database. */
  #take(place: SessionPlace, open: (place: SessionPlace) => SessionDb): FolderSession {
    const { sessionId } = place;
    const { failpoint } = this.#options;
    const lock = SessionLock.take(place, this.#options.program);
    try {
      this.#check();
      const db = open(place);
      const session: FolderSession = new FolderSession({
        place,
        db,
        ahead: new WrittenAhead(db.path),
        lock,
        artifacts: new FolderArtifacts(
          place,
          () => db.artifacts(),
          (stage) => failpoint?.(`seal_${stage}`, sessionId),
        ),
        listed: (changed) => this.#list.put(changed),
        committing: (stage) => failpoint?.(`commit_${stage}`, sessionId),
        released: () => this.#held.delete(session),
      });
      this.#held.add(session);
      return session;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Clears up after whoever held the Session last. */
  async #resume(session: FolderSession): Promise<FolderSession> {
    try {
      const { info } = await session.load();
      // A file system that ignores case finds the Session under another name.
      if (info.sessionId !== session.sessionId) throw sessionMissing(session.sessionId);
      await session.artifacts.sweep();
      // A crash may have come between the Session's database and the list.
      if (JSON.stringify(this.#list.known(info.sessionId)) !== JSON.stringify(info)) this.#list.put(info);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Moves the Session out of sight at one stroke, then frees it. */
  async #bury(place: SessionPlace, lock: SessionLock): Promise<void> {
    const tomb = `${this.#state.sessions}/${TOMB}${place.sessionId}-${crypto.randomUUID()}`;
    // Windows renames no folder in which a file is open.
    if (Deno.build.os === "windows") lock.release();
    await Deno.rename(place.path, tomb);
    await syncFolder(this.#state.sessions);
    await Deno.remove(tomb, { recursive: true });
  }

  #place(sessionId: string): SessionPlace {
    this.#check();
    return this.#state.place(checkedId("Session", sessionId));
  }

  #check(): void {
    if (this.#closed) throw storeClosed("The store");
  }
}
