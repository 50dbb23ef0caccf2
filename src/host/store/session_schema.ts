import type { Schema } from "./database.ts";

/** Rows of the table `facts`. */
export const FACT: { readonly info: 1; readonly watermark: 2; readonly engineState: 3; readonly mcp: 4 } = {
  info: 1,
  watermark: 2,
  engineState: 3,
  mcp: 4,
};

/** Kinds of the table `records`. */
export const RECORD: {
  /** Marked while it has no end. */
  readonly turn: 1;
  readonly interaction: 2;
  readonly grant: 3;
  readonly change: 4;
  /** Marked once a Turn used it. */
  readonly artifact: 5;
} = { turn: 1, interaction: 2, grant: 3, change: 4, artifact: 5 };

/**
 * One Session's database. Every table has an integer key, so that a large value lies beside its page tree and not in it. Text
 * columns that hold an Engine's or a Client's own text have no type: see `text_column.ts`.
 *
 * A row's body is `stored` units long: whole parts of {@linkcode PART_LENGTH} units in `parts`, the rest in `tail`. So an
 * append touches the row and nothing else, and a short body comes with its head. Few tables make a small file: each
 * takes a page or more even when it is empty.
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
    CREATE TABLE records (
      key INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id NOT NULL, marked INTEGER NOT NULL, record TEXT NOT NULL,
      UNIQUE (kind, id)
    );
    CREATE INDEX records_marked ON records (kind) WHERE marked = 1`,
};

/** UTF-16 units of one part of a body. Part `n` of row `seq` has the key `seq * PARTS + n`. */
export const PART_LENGTH = 8192;

/** Parts of one row at most: 8 Gi units. Sequences up to 2^33 keep the key a safe integer. */
export const PARTS: number = 2 ** 20;
