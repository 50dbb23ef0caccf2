import type { RowHead } from "../../model/row.ts";
import type { Write } from "./contract.ts";

interface Entry {
  head: RowHead;
  text: string;
}

/** Rows in order of sequence, with their bodies. */
export class MemoryRows {
  readonly #entries = new Map<number, Entry>();
  /** Sequences in rising order, of all rows and of each Turn. */
  readonly #all: number[] = [];
  readonly #ofTurn = new Map<string, number[]>();

  /** The highest sequence, 0 where there is no row. */
  get last(): number {
    return this.#all.at(-1) ?? 0;
  }

  /** Heads in order, as many as are asked for. */
  *heads(range: { turnId?: string; after: number; through?: number }): Generator<RowHead> {
    const order = range.turnId === undefined ? this.#all : this.#ofTurn.get(range.turnId) ?? [];
    const through = range.through ?? Infinity;
    for (let at = above(order, range.after); at < order.length; at++) {
      const entry = this.#entries.get(order[at] ?? 0);
      if (entry === undefined || entry.head.seq > through) return;
      yield entry.head;
    }
  }

  /** A row's whole body; empty for a row that is not there. */
  body(seq: number): string {
    return this.#entries.get(seq)?.text ?? "";
  }

  /** Begins a change of rows that is kept as a whole or dropped. */
  stage(): StagedRows {
    return new StagedRows(
      (seq) => this.#entries.get(seq),
      (seq, entry) => {
        if (!this.#entries.has(seq)) {
          insert(this.#all, seq);
          const { turnId } = entry.head.run;
          const order = this.#ofTurn.get(turnId);
          if (order === undefined) this.#ofTurn.set(turnId, [seq]);
          else insert(order, seq);
        }
        this.#entries.set(seq, entry);
      },
    );
  }
}

/** Changed rows that nobody sees yet. */
class StagedRows {
  readonly #entries = new Map<number, Entry>();
  readonly #read: (seq: number) => Entry | undefined;
  readonly #put: (seq: number, entry: Entry) => void;

  constructor(read: (seq: number) => Entry | undefined, put: (seq: number, entry: Entry) => void) {
    this.#read = read;
    this.#put = put;
  }

  /** Throws where the write does not fit what is there. */
  write(write: Extract<Write, { op: "row" | "append" | "body" }>): void {
    if (write.op === "row") {
      const { seq } = write.head;
      const present = this.#entries.get(seq) ?? this.#read(seq);
      if (present !== undefined && present.head.run.turnId !== write.head.run.turnId) {
        throw new Error(`row ${seq} belongs to another Turn`);
      }
      this.#entries.set(seq, { head: write.head, text: present?.text ?? "" });
      return;
    }
    const present = this.#entries.get(write.seq) ?? this.#read(write.seq);
    if (present === undefined) throw new Error(`there is no row ${write.seq}`);
    if (write.op === "append" && write.offset !== present.text.length) {
      throw new Error(`row ${write.seq} has ${present.text.length} units, not ${write.offset}`);
    }
    const text = write.op === "append" ? present.text + write.text : write.text;
    this.#entries.set(write.seq, { head: present.head, text });
  }

  /** Makes the changes seen. */
  keep(): void {
    for (const [seq, entry] of this.#entries) this.#put(seq, entry);
  }
}

/** The first index of a sequence above `after`. */
function above(order: readonly number[], after: number): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((order[middle] ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows come in rising order, so this is a push in practice. */
function insert(order: number[], seq: number): void {
  const last = order.at(-1) ?? 0;
  if (seq > last) order.push(seq);
  else order.splice(above(order, seq), 0, seq);
}
