import type { SessionInfo } from "../contract.ts";
import type { Log } from "../../model/log.ts";
import { HostError } from "../errors.ts";
import { isId } from "./failure.ts";
import type { IndexDb } from "./index_db.ts";
import { SessionDb } from "./session_db.ts";
import { SessionLock } from "./session_lock.ts";
import type { SessionPlace, StateFolder } from "./state_folder.ts";
import { storageFailure } from "./storage_failure.ts";

/** Milliseconds after which a folder without a Session is what a crash left and not somebody's work at hand. */
const ABANDONED_MS = 60_000;

/** Milliseconds below which two changes of a folder may bear the same time. */
const TIME_GRAIN_MS = 100;

/** A removed Session's folder until it is gone; no id begins with a dot. */
export const TOMB = ".removed-";

/** Brings the list of Sessions in line with the folders that are there. Costs one `stat` while no folder came or went. */
export class IndexHealer {
  readonly #folder: StateFolder;
  readonly #index: IndexDb;
  readonly #log: Log;
  readonly #program: string | undefined;
  /** When the folders last changed, as far as this process compared them. */
  #seen: number | undefined;
  /** Lists that are asked for at the same time wait for the same comparison. */
  #healing: Promise<void> | undefined;

  constructor(
    folder: StateFolder,
    index: IndexDb,
    options: { readonly log: Log; readonly program?: string },
  ) {
    this.#folder = folder;
    this.#index = index;
    this.#log = options.log;
    this.#program = options.program;
  }

  /** Compares everything, if a folder came or went since the last time. */
  heal(): Promise<void> {
    this.#healing ??= this.#heal().finally(() => this.#healing = undefined);
    return this.#healing;
  }

  /** Lists a Session that the list does not know, where its folder holds one and nobody has it. */
  async adopt(place: SessionPlace): Promise<SessionInfo | undefined> {
    if (!await isFolder(place.path)) return undefined;
    const abandoned = await isAbandoned(place.path);
    // Its maker may not have come to lock it yet.
    if (!abandoned && !await isFile(`${place.path}/session.db`)) return undefined;
    try {
      const lock = SessionLock.take(place, this.#program);
      try {
        return await this.#adopt(place, abandoned);
      } finally {
        lock.release();
      }
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      // Held: its holder lists it. Gone meanwhile: nothing to list. Damaged: it can still be deleted by its id.
      if (error.code !== "busy" && error.code !== "not_found") {
        this.#log.warn("A stored Session cannot be listed", {
          sessionId: place.sessionId,
          reason: error.message,
        });
      }
      return undefined;
    }
  }

  async #heal(): Promise<void> {
    try {
      const changed = (await Deno.stat(this.#folder.sessions)).mtime?.getTime();
      if (changed !== undefined && changed === this.#seen) return;
      await this.#compare();
      this.#seen = changed !== undefined && Date.now() - changed > TIME_GRAIN_MS ? changed : undefined;
    } catch (cause) {
      throw storageFailure(cause, { folder: this.#folder.path });
    }
  }

  async #compare(): Promise<void> {
    // Ids before names: a Session that is made in between has its folder first and is not taken for a lost one.
    const ids = this.#index.ids();
    for await (const { name } of Deno.readDir(this.#folder.sessions)) {
      if (name.startsWith(TOMB)) await this.#bury(name);
      else if (isId(name) && !ids.delete(name)) await this.adopt(this.#folder.place(name));
    }
    for (const id of ids) if (!await isFolder(this.#folder.place(id).path)) this.#index.delete(id);
  }

  async #adopt(place: SessionPlace, abandoned: boolean): Promise<SessionInfo | undefined> {
    try {
      const info = readInfo(place);
      if (info.sessionId !== place.sessionId) return undefined;
      this.#index.put(info);
      return info;
    } catch (error) {
      if (!(error instanceof HostError && error.data.reason === "empty")) throw error;
      if (abandoned) await Deno.remove(place.path, { recursive: true });
      return undefined;
    }
  }

  async #bury(name: string): Promise<void> {
    try {
      await Deno.remove(`${this.#folder.sessions}/${name}`, { recursive: true });
    } catch (cause) {
      // Whoever removed the Session may be at it too.
      if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    }
  }
}

function readInfo(place: SessionPlace): SessionInfo {
  const db = new SessionDb(place);
  try {
    return db.info();
  } finally {
    db.close();
  }
}

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw cause;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await statOf(path))?.isDirectory ?? false;
}

async function isFile(path: string): Promise<boolean> {
  return (await statOf(path))?.isFile ?? false;
}

async function isAbandoned(path: string): Promise<boolean> {
  const changed = (await statOf(path))?.mtime ?? null;
  return changed !== null && Date.now() - changed.getTime() > ABANDONED_MS;
}
