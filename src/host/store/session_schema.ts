import type { Schema } from "./database.ts";

/** Rows of the table `facts`. */
export const FACT: { readonly info: 1; readonly watermark: 2; readonly engineState: 3; readonly mcp: 4 } = {
  info: 1,
  watermark: 2,
  engineState: 3,
  mcp: 4,
};

/**
 * One Session's database. Every table has an integer key, so that a large value lies beside its page tree and not in it. Text
 * columns that hold an Engine's or a Client's own text have no type: see `text_column.ts`.
 *
 * A row's body is `stored` units long: whole parts of {@linkcode PART_LENGTH} units in `parts`, the rest in `tail`. So an
 * append touches the row and nothing else, and a short body comes with its head.
 */
export const SESSION_SCHEMA: Schema = {
  applicationId: 0x67776179,
  version: 1,
  use: "alone",
  sql: `
    CREATE TABLE facts (key INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE names (key INTEGER PRIMARY KEY, text NOT NULL UNIQUE);
    CREATE TABLE transcript (
      seq INTEGER PRIMARY KEY, turn INTEGER NOT NULL, run INTEGER NOT NULL, kind INTEGER NOT NULL, id NOT NULL,
      complete INTEGER NOT NULL, sensitive INTEGER NOT NULL, length INTEGER NOT NULL, sha256 TEXT NOT NULL,
      at INTEGER NOT NULL, stored INTEGER NOT NULL, tail NOT NULL
    );
    CREATE INDEX transcript_turn ON transcript (turn);
    CREATE TABLE parts (key INTEGER PRIMARY KEY, text NOT NULL);
    CREATE TABLE turns (key INTEGER PRIMARY KEY, turn_id NOT NULL UNIQUE, open INTEGER NOT NULL, record TEXT NOT NULL);
    CREATE INDEX turns_open ON turns (key) WHERE open = 1;
    CREATE TABLE interactions (key INTEGER PRIMARY KEY, interaction_id NOT NULL UNIQUE, record TEXT NOT NULL);
    CREATE TABLE grants (key INTEGER PRIMARY KEY, grant_id NOT NULL UNIQUE, record TEXT NOT NULL);
    CREATE TABLE changes (key INTEGER PRIMARY KEY, change_id NOT NULL UNIQUE, revision INTEGER NOT NULL);
    CREATE TABLE artifacts (key INTEGER PRIMARY KEY, artifact_id TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
    CREATE TABLE pins (
      key INTEGER PRIMARY KEY, artifact INTEGER NOT NULL REFERENCES artifacts, turn_id NOT NULL, UNIQUE (artifact, turn_id)
    )`,
};

/** UTF-16 units of one part of a body. Part `n` of row `seq` has the key `seq * PARTS + n`. */
export const PART_LENGTH = 8192;

/** Parts of one row at most: 8 Gi units. Sequences up to 2^33 keep the key a safe integer. */
export const PARTS: number = 2 ** 20;
