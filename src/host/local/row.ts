import type { Run } from "../../model/run.ts";
import type { RowHead, RowKind } from "../../model/row.ts";
import { digestOf } from "../../model/digest.ts";
import type { Write } from "../store/contract.ts";

/** What names a row and stays the same from its beginning on. */
export interface RowIdentity {
  readonly seq: number;
  readonly run: Run;
  readonly kind: RowKind;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A row at one moment, as a reader sees it while the row may go on growing. */
export interface RowView {
  readonly head: RowHead;
  /** A stretch of the body as it was at that moment; undefined where the row was taken back since. */
  text(offset: number, length: number): string | undefined | Promise<string | undefined>;
}

/** Reads from the body that the store has of a row. */
export type BodyReader = (seq: number, offset: number, length: number) => Promise<string>;

/**
 * A row that grows, or that is not saved yet. The journal calls `take`, then exactly one of `kept` and `lost`, one commit at a
 * time; the row may grow in between.
 */
export interface PendingRow extends RowIdentity {
  /** `open` while the body may change, then `final` for ever. */
  readonly state: "open" | "final";
  /** Writes that bring the store up to date at `now` in milliseconds; undefined where an open row is better saved later. */
  take(now: number): readonly Write[] | undefined;
  kept(): void;
  lost(): void;
  view(): RowView;
}

/** A row that is whole from its beginning: a plan, a notice, an end, words of a person. */
export class FixedRow implements PendingRow {
  readonly seq: number;
  readonly run: Run;
  readonly kind: RowKind;
  readonly id: string;
  readonly at: number;
  readonly state = "final";
  #body: string;
  #taken = false;

  constructor(identity: RowIdentity, body: string) {
    this.seq = identity.seq;
    this.run = identity.run;
    this.kind = identity.kind;
    this.id = identity.id;
    this.at = identity.at;
    this.#body = body;
  }

  /** Puts a newer body in place of one that the store does not have and is not being given. False where it is too late. */
  replace(body: string): boolean {
    if (this.#taken) return false;
    this.#body = body;
    return true;
  }

  take(): readonly Write[] {
    this.#taken = true;
    return [{ op: "row", head: this.#head() }, { op: "body", seq: this.seq, text: this.#body }];
  }

  kept(): void {}

  lost(): void {
    this.#taken = false;
  }

  view(): RowView {
    const body = this.#body;
    return { head: this.#head(), text: (offset, length) => body.slice(offset, offset + length) };
  }

  #head(): RowHead {
    const { seq, run, kind, id, at } = this;
    const body = this.#body;
    return {
      seq,
      run,
      kind,
      id,
      at,
      complete: true,
      sensitive: false,
      length: body.length,
      sha256: digestOf(body),
    };
  }
}
