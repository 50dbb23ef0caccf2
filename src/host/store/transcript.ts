import type { RowHead, RowKind } from "../../model/row.ts";
import type { Columns, Database, Value } from "./database.ts";
import type { Names } from "./names.ts";
import { PART_LENGTH, PARTS } from "./session_schema.ts";
import { fromColumn } from "./text_column.ts";

/** The number of a kind is its place here: new ones go to the end. */
export const ROW_KINDS: readonly RowKind[] = [
  "user",
  "text",
  "thinking",
  "tool",
  "plan",
  "notice",
  "end",
  "content",
  "compaction",
];

/** Columns of `transcript` in the order of {@linkcode headOf}; bodies come behind them. */
const HEAD = "seq, turn, run, kind, id, complete, sensitive, length, sha256, at";

/** Which rows, as `heads` and `rows` of the store are asked. */
export interface RowRange {
  readonly turnId?: string;
  readonly after: number;
  readonly through?: number;
}

/** Rows that one statement brings at least and at most. */
const BLOCK_MIN = 32;
const BLOCK_MAX = 1024;

/** Reads the rows of a Session. */
export class Transcript {
  readonly #db: Database;
  readonly #names: Names;
  /** Units of a body in the last page, on average. */
  #usual: number = PART_LENGTH;

  constructor(db: Database, names: Names) {
    this.#db = db;
    this.#names = names;
  }

  /** The highest sequence, 0 where there is no row. */
  last(): number {
    return Number(this.#db.get("SELECT coalesce(max(seq), 0) FROM transcript")?.[0]);
  }

  /** Heads in order, at most `limit`. */
  heads(range: RowRange, limit: number): readonly RowHead[] {
    const selected = this.#select(HEAD, range, limit);
    return this.#db.guard(() => selected.map((columns) => this.#headOf(columns)));
  }

  /** A row's head with the length of its stored body and its tail. */
  entry(seq: number): { head: RowHead; stored: number; tail: string } | undefined {
    const columns = this.#db.get(`SELECT ${HEAD}, stored, tail FROM transcript WHERE seq = ?`, seq);
    if (columns === undefined) return undefined;
    return this.#db.guard(() => ({
      head: this.#headOf(columns),
      stored: Number(columns[10]),
      tail: fromColumn(columns[11]),
    }));
  }

  /** Up to `length` units of a body from `offset`; empty for a row that is not there. */
  body(seq: number, offset: number, length: number): string {
    const columns = this.#db.get("SELECT stored, tail FROM transcript WHERE seq = ?", seq);
    if (columns === undefined) return "";
    return this.#db.guard(() =>
      this.#slice(seq, Number(columns[0]), fromColumn(columns[1]), offset, offset + length)
    );
  }

  /** Heads with the first `length` units of their bodies, until `maxLength` units or `limit` rows are there. */
  rows(
    range: RowRange,
    bounds: { readonly limit: number; readonly length: number; readonly maxLength: number },
  ): readonly { readonly head: RowHead; readonly text: string }[] {
    return this.#db.guard(() => this.#rows(range, bounds));
  }

  #rows(
    range: RowRange,
    bounds: { readonly limit: number; readonly length: number; readonly maxLength: number },
  ): readonly { readonly head: RowHead; readonly text: string }[] {
    const found: { head: RowHead; text: string }[] = [];
    let taken = 0;
    let after = range.after;
    while (found.length < bounds.limit) {
      // As many rows as fit, going by the last ones: a page of long bodies does not read what it cannot return.
      const fitting = Math.ceil((bounds.maxLength - taken) / (this.#usual + 1)) + 1;
      const block = Math.min(bounds.limit - found.length, Math.max(BLOCK_MIN, Math.min(BLOCK_MAX, fitting)));
      const selected = this.#select(`${HEAD}, stored, tail`, { ...range, after }, block);
      for (const columns of selected) {
        const head = this.#headOf(columns);
        const text = this.#slice(head.seq, Number(columns[10]), fromColumn(columns[11]), 0, bounds.length);
        taken += text.length;
        if (taken > bounds.maxLength && found.length > 0) return found;
        found.push({ head, text });
        after = head.seq;
        this.#usual = taken / found.length;
      }
      if (selected.length < block) break;
    }
    return found;
  }

  #select(columns: string, range: RowRange, limit: number): readonly Columns[] {
    const values: Value[] = [range.after, range.through ?? Number.MAX_SAFE_INTEGER, Math.min(limit, 2 ** 31)];
    const rest = "seq > ? AND seq <= ? ORDER BY seq LIMIT ?";
    if (range.turnId === undefined) {
      return this.#db.all(`SELECT ${columns} FROM transcript WHERE ${rest}`, ...values);
    }
    const turn = this.#names.find(range.turnId);
    if (turn === undefined) return [];
    return this.#db.all(`SELECT ${columns} FROM transcript WHERE turn = ? AND ${rest}`, turn, ...values);
  }

  #headOf(columns: Columns): RowHead {
    const [seq, turn, run, kind, id, complete, sensitive, length, sha256, at] = columns;
    return {
      seq: Number(seq),
      run: this.#names.run(Number(turn), Number(run)),
      kind: kindOf(Number(kind)),
      id: fromColumn(id),
      complete: complete === 1,
      sensitive: sensitive === 1,
      length: Number(length),
      sha256: String(sha256),
      at: Number(at),
    };
  }

  #slice(seq: number, stored: number, tail: string, from: number, to: number): string {
    const start = stored - tail.length;
    if (from >= start) return tail.slice(from - start, to - start);
    const first = Math.floor(from / PART_LENGTH);
    const last = Math.min(Math.ceil(to / PART_LENGTH), start / PART_LENGTH);
    const parts = this.#db.all(
      "SELECT text FROM parts WHERE key >= ? AND key < ? ORDER BY key",
      seq * PARTS + first,
      seq * PARTS + last,
    );
    let text = "";
    for (const [part] of parts) text += fromColumn(part);
    if (to > start) text += tail;
    const base = first * PART_LENGTH;
    return text.slice(from - base, to - base);
  }
}

function kindOf(number: number): RowKind {
  const kind = ROW_KINDS[number];
  if (kind === undefined) throw new SyntaxError("A row is of no known kind");
  return kind;
}
