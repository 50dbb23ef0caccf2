import { DatabaseSync, type StatementSync } from "node:sqlite";
import { LIMITS } from "../../limits.ts";
import { storageFailure, storageRefusal, type StorageSubject } from "./storage_failure.ts";

/** What a column can be given. */
export type Value = null | number | string | Uint8Array;

/** What is in a column, in the order of the statement. */
export type Columns = readonly unknown[];

/** The tables of a database file; `version` rises with each change to them. */
export interface Schema {
  /** Marks the file as ours. */
  readonly applicationId: number;
  readonly version: number;
  readonly sql: string;
  /**
   * `alone`: one process writes it; `shared`: several do. A power cut may take the last commits, never the file: whoever
   * promises more syncs what was written ahead.
   */
  readonly use: "alone" | "shared";
}

/** One SQLite file with its prepared statements. Every error that leaves it is a HostError. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #subject: StorageSubject;
  readonly #statements = new Map<string, StatementSync>();

  /**
   * Opens the file. A new one gets its tables and what `begin` writes, in one commit; without `begin` no file, or one
   * without tables, is refused.
   */
  constructor(path: string, subject: StorageSubject, schema: Schema, begin?: (db: Database) => void) {
    this.#subject = subject;
    try {
      if (begin === undefined && !isThere(path)) throw storageRefusal("empty", subject);
      this.#db = new DatabaseSync(path, { timeout: LIMITS.storeTimeoutMs });
    } catch (cause) {
      throw storageFailure(cause, subject);
    }
    try {
      this.#prepare(schema, begin);
    } catch (cause) {
      this.#db.close();
      throw storageFailure(cause, subject);
    }
  }

  /** Runs a statement. */
  run(sql: string, ...values: Value[]): void {
    this.guard(() => this.#statement(sql).run(...values));
  }

  /** All rows of a query. */
  all(sql: string, ...values: Value[]): readonly Columns[] {
    const rows: readonly unknown[] = this.guard(() => this.#statement(sql).all(...values));
    return rows.filter(Array.isArray);
  }

  /** The first row of a query. */
  get(sql: string, ...values: Value[]): Columns | undefined {
    return this.all(sql, ...values)[0];
  }

  /** Does the work in one commit, or, when it throws, nothing of it. */
  transaction<T>(work: () => T): T {
    this.run("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (cause) {
      // SQLite ends a transaction by itself after some failures.
      if (this.#db.isTransaction) this.run("ROLLBACK");
      throw cause;
    }
  }

  /** Does the first work in a new file, in one commit, without the sync that makes old commits safe from it. */
  first(work: () => void): void {
    this.#exec("PRAGMA synchronous = OFF");
    try {
      this.transaction(work);
    } finally {
      this.#exec("PRAGMA synchronous = NORMAL");
    }
  }

  /** Does what can fail because of the file, above all reading what is stored there; its errors become HostErrors. */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw storageFailure(cause, this.#subject);
    }
  }

  /** Closes the file. */
  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #exec(sql: string): void {
    this.guard(() => this.#db.exec(sql));
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      if (!canReturnArrays(statement)) throw new Error("This runtime's node:sqlite is too old: update Deno");
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #prepare(schema: Schema, begin?: (db: Database) => void): void {
    const alone = schema.use === "alone";
    // Alone, the lock spares the shared memory file and some system calls a commit.
    if (alone) this.#db.exec("PRAGMA locking_mode = EXCLUSIVE");
    const version = this.#number("PRAGMA user_version");
    if (version !== 0 && this.#number("PRAGMA application_id") !== schema.applicationId) {
      throw storageRefusal("foreign", this.#subject);
    }
    if (version > schema.version) throw storageRefusal("version", this.#subject);
    if (version === 0) {
      if (begin === undefined) throw storageRefusal("empty", this.#subject);
      this.#create(schema, begin);
    }
    this.#db.exec("PRAGMA synchronous = NORMAL");
  }

  /** A new file is synced once, at the end, instead of at every step. */
  #create(schema: Schema, begin: (db: Database) => void): void {
    this.#db.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL");
    this.transaction(() => {
      // Another process may have been faster.
      if (this.#number("PRAGMA user_version") !== 0) return;
      if (this.#number("SELECT count(*) FROM sqlite_schema") !== 0) {
        throw storageRefusal("foreign", this.#subject);
      }
      this.#db.exec(
        `${schema.sql}; PRAGMA application_id = ${schema.applicationId}; PRAGMA user_version = ${schema.version}`,
      );
      begin(this);
    });
    this.#db.exec("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
  }

  #number(sql: string): number {
    return Number(this.get(sql)?.[0]);
  }
}

/** Arrays are read twice as fast as objects. The runtimes have the method; not all their declarations do. */
function canReturnArrays(
  statement: StatementSync,
): statement is StatementSync & { setReturnArrays(on: boolean): void } {
  return "setReturnArrays" in statement;
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return false;
    throw cause;
  }
}
