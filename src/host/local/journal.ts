import type { Clock } from "../../model/clock.ts";
import type { Limits } from "../../limits.ts";
import type { SessionInfo } from "../contract.ts";
import type { SessionStore, Write } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import type { PendingRow, RowView } from "./row.ts";

/** What the journal reports to its Session. */
export interface JournalEvents {
  /** Rows up to `watermark` are durable and final. */
  advanced(watermark: number, last: number): void;
  /** A checkpoint failed; what it should have saved is tried again with the next commit. */
  failed(error: HostError): void;
}

/** One commit that was asked for. */
interface Order {
  readonly build?: () => readonly Write[];
  readonly kept?: () => void;
}

/**
 * What a Session has not saved yet, and the one writer that saves it. A commit takes all that is pending with it; commits follow
 * one another. What a failed one should have saved stays pending, except for the writes that its caller added.
 */
export class Journal {
  readonly #store: Pick<SessionStore, "commit">;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #events: JournalEvents;
  /** Rows that are open or not saved, in order of sequence. */
  readonly #rows = new Map<number, PendingRow>();
  readonly #touched = new Set<PendingRow>();
  #notes: Write[] = [];
  readonly #info: () => SessionInfo;
  #infoState: "saved" | "changed" = "saved";
  #last: number;
  #watermark: number;
  /** Units of text that wait for a save, and that are on their way. */
  #waiting = 0;
  #flight = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #timer: AbortController | undefined;
  #urgent: Promise<void> | undefined;

  constructor(
    options: {
      store: Pick<SessionStore, "commit">;
      clock: Clock;
      limits: Limits;
      events: JournalEvents;
      /** The present listing entry. */
      info: () => SessionInfo;
      last: number;
      watermark: number;
    },
  ) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#events = options.events;
    this.#info = options.info;
    this.#last = options.last;
    this.#watermark = options.watermark;
  }

  get watermark(): number {
    return this.#watermark;
  }

  /** The highest sequence that was given out. */
  get last(): number {
    return this.#last;
  }

  /** Gives out the next sequence. For rows that a caller writes by itself; others `begin`. */
  next(): number {
    return ++this.#last;
  }

  /** Begins a row at the next sequence. */
  begin<R extends PendingRow>(make: (seq: number) => R): R {
    const row = make(this.next());
    this.#rows.set(row.seq, row);
    this.touch(row, 0);
    return row;
  }

  /** Says that a row changed, by so many units of text. */
  touch(row: PendingRow, units: number): void {
    this.#touched.add(row);
    this.#waiting += units;
    if (this.#waiting >= this.#limits.checkpointLength) this.#hurry();
    else this.#schedule();
  }

  /** Adds a write to the next commit. */
  note(write: Write): void {
    this.#notes.push(write);
    this.#schedule();
  }

  /** Saves the listing entry, as it is then, with the next commit. */
  noteInfo(): void {
    this.#infoState = "changed";
    this.#schedule();
  }

  /**
   * Saves all that is pending, and with it what `build` adds at the moment of the write. `kept` runs when that is durable, before
   * anything else is written. Rejects with `persistence_failed`; then nothing of what `build` added is kept.
   */
  commit(build?: () => readonly Write[], kept?: () => void): Promise<void> {
    return this.#enqueue({ build, kept });
  }

  /** Undefined while saving keeps up; else a promise for the end of the save that is overdue. Never rejects. */
  overdue(): Promise<void> | undefined {
    return this.#waiting + this.#flight > 2 * this.#limits.checkpointLength ? this.#urgent : undefined;
  }

  /** Rows that are not in the store as they are now, of sequences from `from` to `through`, in order. */
  pending(query: { turnId?: string; from: number; through: number }): RowView[] {
    const views: RowView[] = [];
    for (const row of this.#rows.values()) {
      if (row.seq > query.through) break;
      if (row.seq < query.from) continue;
      if (query.turnId === undefined || row.run.turnId === query.turnId) views.push(row.view());
    }
    return views;
  }

  /** Rests, after saving what is pending or forgetting it. A failure is reported by `failed`. */
  async close(pending: "save" | "forget"): Promise<void> {
    if (pending === "save") await this.commit().catch((error) => this.#events.failed(error));
    else await this.#tail;
    this.#timer?.abort("over");
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    const timer = this.#timer = new AbortController();
    this.#clock.sleep(this.#limits.checkpointMs, timer.signal).then(() => this.#checkpoint(), () => {});
  }

  /** Saves at once because much text waits. */
  #hurry(): void {
    this.#urgent ??= this.#checkpoint().finally(() => {
      this.#urgent = undefined;
    });
  }

  #checkpoint(): Promise<void> {
    return this.#enqueue({}).catch((error) => this.#events.failed(error));
  }

  #enqueue(order: Order): Promise<void> {
    const done = this.#tail.then(() => this.#write(order));
    this.#tail = done.catch(() => {});
    return done;
  }

  async #write({ build, kept }: Order): Promise<void> {
    this.#timer?.abort("over");
    this.#timer = undefined;
    const notes = this.#notes;
    const infoState = this.#infoState;
    this.#notes = [];
    this.#infoState = "saved";
    const batch: Write[] = [...notes];
    if (infoState === "changed") batch.push({ op: "info", info: this.#info() });
    const rows = this.#takeRows(batch);
    if (build !== undefined) batch.push(...build());
    const watermark = this.#reach();
    if (watermark > this.#watermark) batch.push({ op: "watermark", seq: watermark });
    if (this.#touched.size > 0) this.#schedule();
    if (batch.length === 0) return;
    this.#flight = this.#waiting;
    this.#waiting = 0;
    try {
      await this.#store.commit(batch);
    } catch (cause) {
      this.#waiting += this.#flight;
      this.#notes.unshift(...notes);
      if (infoState === "changed") this.#infoState = "changed";
      for (const row of rows) {
        row.lost();
        this.#touched.add(row);
      }
      throw persistenceFailed(cause);
    } finally {
      this.#flight = 0;
    }
    for (const row of rows) {
      row.kept();
      if (row.state === "final" && !this.#touched.has(row)) this.#rows.delete(row.seq);
    }
    kept?.();
    if (watermark > this.#watermark) {
      this.#watermark = watermark;
      this.#events.advanced(watermark, this.#last);
    }
  }

  #takeRows(batch: Write[]): PendingRow[] {
    const rows: PendingRow[] = [];
    for (const row of this.#touched) {
      const writes = row.take(this.#clock.now());
      if (writes === undefined) continue;
      this.#touched.delete(row);
      batch.push(...writes);
      rows.push(row);
    }
    return rows;
  }

  /** The watermark once a commit of all that is final now has succeeded. */
  #reach(): number {
    for (const row of this.#rows.values()) if (row.state === "open") return row.seq - 1;
    return this.#last;
  }
}

/** What a caller gets when the store did not keep something. */
function persistenceFailed(cause: unknown): HostError {
  if (cause instanceof HostError && cause.code === "persistence_failed") return cause;
  const detail = cause instanceof HostError ? `: ${cause.message}` : "";
  return new HostError("persistence_failed", `Cannot save the Session${detail}`, { cause });
}
