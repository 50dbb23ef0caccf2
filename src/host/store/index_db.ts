import type { SessionInfo } from "../contract.ts";
import type { Log } from "../../model/log.ts";
import { HostError } from "../errors.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { Database, type Schema, type Value } from "./database.ts";
import { storageFailure } from "./storage_failure.ts";
import { toColumn } from "./text_column.ts";
import type { StateFolder } from "./state_folder.ts";

const INDEX_SCHEMA: Schema = {
  applicationId: 0x67776169,
  version: 1,
  use: "shared",
  sql: `
    CREATE TABLE store (key INTEGER PRIMARY KEY, store_id TEXT NOT NULL);
    CREATE TABLE sessions (
      key INTEGER PRIMARY KEY, session_id TEXT NOT NULL UNIQUE, cwd NOT NULL, updated_at INTEGER NOT NULL, info TEXT NOT NULL
    );
    CREATE INDEX sessions_newest ON sessions (updated_at, session_id);
    CREATE INDEX sessions_cwd ON sessions (cwd, updated_at, session_id)`,
};

/**
 * The list of the Sessions of a state folder, shared by its processes. It can be made anew from the Sessions' own databases,
 * so it may lag behind them after a power cut. Everything here is synchronous; every error is a HostError.
 */
export class IndexDb {
  readonly #db: Database;
  /** Names the state folder. */
  readonly storeId: string;

  /** Opens the list, and makes it where there is none. */
  constructor(folder: StateFolder) {
    this.#db = new Database(folder.index, { folder: folder.path }, INDEX_SCHEMA, (db) => {
      db.run("INSERT INTO store (key, store_id) VALUES (1, ?)", crypto.randomUUID());
    });
    try {
      this.storeId = String(this.#db.get("SELECT store_id FROM store")?.[0]);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** A page, newest first. */
  list(
    query: { cwd?: string; cursor?: string; limit: number },
  ): { sessions: readonly SessionInfo[]; next?: string } {
    const scope = { storeId: this.storeId, cwd: query.cwd };
    const conditions: string[] = [];
    const values: Value[] = [];
    if (query.cwd !== undefined) {
      conditions.push("cwd = ?");
      values.push(toColumn(query.cwd));
    }
    if (query.cursor !== undefined) {
      const { updatedAt, sessionId } = decodeCursor(scope, query.cursor);
      conditions.push("(updated_at, session_id) < (?, ?)");
      values.push(updatedAt, sessionId);
    }
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const found = this.#db.all(
      `SELECT info FROM sessions ${where} ORDER BY updated_at DESC, session_id DESC LIMIT ?`,
      ...values,
      query.limit + 1,
    );
    const sessions = found.slice(0, query.limit).map(([info]) => this.#read(info));
    const last = sessions.at(-1);
    if (last === undefined || found.length === sessions.length) return { sessions };
    return { sessions, next: encodeCursor(scope, last) };
  }

  /** One entry. */
  get(sessionId: string): SessionInfo | undefined {
    const found = this.#db.get("SELECT info FROM sessions WHERE session_id = ?", sessionId);
    return found && this.#read(found[0]);
  }

  /** What an Engine calls those of its Sessions that have an entry. */
  keptAs(engineId: string): readonly string[] {
    return this.#db.all(
      `SELECT json_extract(info, '$.keptAs') FROM sessions
       WHERE json_extract(info, '$.keptAs') IS NOT NULL AND json_extract(info, '$.engineId') = ?`,
      engineId,
    ).map(([name]) => String(name));
  }

  /** Ids of all entries. */
  ids(): Set<string> {
    return new Set(this.#db.all("SELECT session_id FROM sessions").map(([id]) => String(id)));
  }

  /** Writes an entry, new or not. */
  put(info: SessionInfo): void {
    this.#db.run(
      `INSERT INTO sessions (session_id, cwd, updated_at, info) VALUES (?, ?, ?, ?)
       ON CONFLICT (session_id) DO UPDATE SET cwd = excluded.cwd, updated_at = excluded.updated_at, info = excluded.info`,
      info.sessionId,
      toColumn(info.cwd),
      info.updatedAt,
      JSON.stringify(info),
    );
  }

  /** Drops an entry. */
  delete(sessionId: string): void {
    this.#db.run("DELETE FROM sessions WHERE session_id = ?", sessionId);
  }

  /** Closes the file. */
  close(): void {
    this.#db.close();
  }

  #read(info: unknown): SessionInfo {
    return this.#db.guard(() => JSON.parse(String(info)) as SessionInfo);
  }
}

/** Opens the list; a damaged one is put aside and made anew, which the Sessions' own databases allow. */
export async function openIndex(folder: StateFolder, log: Log): Promise<IndexDb> {
  try {
    return new IndexDb(folder);
  } catch (error) {
    if (!(error instanceof HostError) || error.data.reason !== "damaged") throw error;
  }
  try {
    const lock = await Deno.open(`${folder.index}.lock`, { write: true, create: true, mode: 0o600 });
    try {
      await lock.lock(true);
      return await replaced(folder, log);
    } finally {
      lock.close();
    }
  } catch (cause) {
    throw storageFailure(cause, { folder: folder.path });
  }
}

/** Another process may have replaced it while this one waited for the lock. */
async function replaced(folder: StateFolder, log: Log): Promise<IndexDb> {
  try {
    return new IndexDb(folder);
  } catch (error) {
    if (!(error instanceof HostError) || error.data.reason !== "damaged") throw error;
  }
  log.warn("The list of Sessions was damaged and is made anew", { folder: folder.path });
  await Deno.rename(folder.index, `${folder.index}.damaged-${crypto.randomUUID()}`);
  for (const suffix of ["-wal", "-shm"]) {
    try {
      await Deno.remove(folder.index + suffix);
    } catch (cause) {
      if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    }
  }
  return new IndexDb(folder);
}
