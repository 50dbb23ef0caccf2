import { DatabaseSync } from "node:sqlite";
import type { Schema } from "./database.ts";

/**
 * Makes new database files with their tables and nothing in them. SQLite makes the first one; the others are written as its bytes,
 * which takes a tenth of the time.
 */
export class Blank {
  readonly #schema: Schema;
  #bytes: Uint8Array | undefined;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Makes a file, which is on the disk as a whole before it has this name. Nothing may be there. */
  put(path: string): void {
    const unnamed = `${path}.new`;
    if (this.#bytes === undefined) make(unnamed, this.#schema);
    const file = Deno.openSync(unnamed, { read: true, write: true, create: true, mode: 0o600 });
    try {
      if (this.#bytes === undefined) this.#bytes = Deno.readFileSync(unnamed);
      else for (let at = 0; at < this.#bytes.length;) at += file.writeSync(this.#bytes.subarray(at));
      file.syncDataSync();
    } finally {
      file.close();
    }
    Deno.renameSync(unnamed, path);
  }
}

function make(path: string, { sql, applicationId, version }: Schema): void {
  const db = new DatabaseSync(path);
  try {
    // Nothing has to survive before the file has its name; the mode to write ahead stays in the file.
    db.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN; ${sql};
       PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; COMMIT; PRAGMA journal_mode = WAL`,
    );
  } finally {
    db.close();
  }
}
