import type { RowHead } from "../../model/row.ts";
import type { Write } from "./contract.ts";
import type { Database } from "./database.ts";
import type { Names } from "./names.ts";
import { RowBody } from "./row_body.ts";
import { PARTS } from "./session_schema.ts";
import { toColumn } from "./text_column.ts";
import { ROW_KINDS, type Transcript } from "./transcript.ts";

interface Draft {
  head: RowHead;
  body: RowBody;
  /** Parts that lie on the disk and no longer belong to the body. */
  outdated: number;
}

/** The row writes of one batch: each row that they touch is written once, however many writes it got. */
export class TranscriptBatch {
  readonly #db: Database;
  readonly #names: Names;
  readonly #transcript: Transcript;
  readonly #last: number;
  readonly #drafts = new Map<number, Draft>();

  /** Rows above `last` are known to be new. */
  constructor(db: Database, names: Names, transcript: Transcript, last: number) {
    this.#db = db;
    this.#names = names;
    this.#transcript = transcript;
    this.#last = last;
  }

  /** Takes one write, or returns why it does not fit what is there. */
  take(write: Extract<Write, { op: "row" | "append" | "body" }>): string | undefined {
    if (write.op === "row") return this.#begin(write.head);
    const draft = this.#draft(write.seq);
    if (draft === undefined) return `there is no row ${write.seq}`;
    if (write.op === "body") {
      draft.outdated = Math.max(draft.outdated, draft.body.parts);
      draft.body = new RowBody();
    } else if (write.offset !== draft.body.stored) {
      return `row ${write.seq} has ${draft.body.stored} units, not ${write.offset}`;
    }
    draft.body.append(write.text);
    return undefined;
  }

  /** Writes the rows out; returns the highest sequence now. */
  flush(): number {
    let last = this.#last;
    for (const [seq, draft] of this.#drafts) {
      this.#put(seq, draft);
      if (seq > last) last = seq;
    }
    return last;
  }

  #begin(head: RowHead): string | undefined {
    const draft = this.#draft(head.seq);
    if (draft === undefined) {
      this.#drafts.set(head.seq, { head, body: new RowBody(), outdated: 0 });
      return undefined;
    }
    if (draft.head.run.turnId !== head.run.turnId) return `row ${head.seq} belongs to another Turn`;
    draft.head = head;
    return undefined;
  }

  #draft(seq: number): Draft | undefined {
    const known = this.#drafts.get(seq);
    if (known !== undefined || seq > this.#last) return known;
    const entry = this.#transcript.entry(seq);
    if (entry === undefined) return undefined;
    const draft = { head: entry.head, body: new RowBody(entry.stored, entry.tail), outdated: 0 };
    this.#drafts.set(seq, draft);
    return draft;
  }

  #put(seq: number, { head, body, outdated }: Draft): void {
    if (outdated > 0) {
      this.#db.run("DELETE FROM parts WHERE key >= ? AND key < ?", seq * PARTS, seq * PARTS + outdated);
    }
    for (const { index, text } of body.filled) {
      this.#db.run("INSERT INTO parts (key, text) VALUES (?, ?)", seq * PARTS + index, toColumn(text));
    }
    this.#db.run(
      `INSERT INTO transcript (seq, turn, run, kind, id, complete, sensitive, length, sha256, at, stored, tail)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (seq) DO UPDATE SET run = excluded.run, kind = excluded.kind, id = excluded.id,
         complete = excluded.complete, sensitive = excluded.sensitive, length = excluded.length,
         sha256 = excluded.sha256, at = excluded.at, stored = excluded.stored, tail = excluded.tail`,
      seq,
      this.#names.key(head.run.turnId),
      this.#names.key(head.run.runId),
      ROW_KINDS.indexOf(head.kind),
      toColumn(head.id),
      head.complete ? 1 : 0,
      head.sensitive ? 1 : 0,
      head.length,
      head.sha256,
      head.at,
      body.stored,
      toColumn(body.tail),
    );
  }
}
