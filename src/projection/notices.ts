import { noticeCard, type NoticeText, noticeUpdate } from "./notice.ts";
import type { EncodedUpdate } from "./step.ts";
import type { Meta } from "../model/json.ts";
import type { Redact } from "../model/redact.ts";

/** How often one notice came live, in rows, and was shown. */
interface Count {
  frames: number;
  rows: number;
  shown: number;
}

/**
 * The notices of one Run. A notice comes live, as a row, or both, and its frame has no identity: it is shown as often as the more
 * frequent of the two.
 */
export class ShownNotices {
  #turnId: string;
  #native: boolean;
  #redact: Redact;
  #counts = new Map<string, Count>();
  #rows = new Set<string>();
  #cards = 0;

  /** Begins without notices. `native`: the Client shows notices by itself. */
  constructor(turnId: string, native: boolean, redact: Redact) {
    this.#turnId = turnId;
    this.#native = native;
    this.#redact = redact;
  }

  /** Takes a live notice. */
  apply(notice: NoticeText, meta: Meta | undefined, out: EncodedUpdate[]): void {
    const count = this.#count(notice);
    count.frames++;
    this.#show(notice, count, meta, out);
  }

  /** Takes a recorded notice; rows have an identity and count once. */
  row(id: string, notice: NoticeText & { readonly meta?: Meta }, out: EncodedUpdate[]): void {
    if (this.#rows.has(id)) return;
    this.#rows.add(id);
    const count = this.#count(notice);
    count.rows++;
    this.#show(notice, count, notice.meta, out);
  }

  #show(notice: NoticeText, count: Count, meta: Meta | undefined, out: EncodedUpdate[]): void {
    if (Math.max(count.frames, count.rows) <= count.shown) return;
    count.shown++;
    out.push(
      this.#native
        ? noticeUpdate(notice, this.#redact, meta)
        : noticeCard(noticeId(this.#turnId, this.#cards++), notice, this.#redact, meta),
    );
  }

  #count(notice: NoticeText): Count {
    const key = JSON.stringify([notice.severity, notice.title, notice.text]);
    let count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, count = { frames: 0, rows: 0, shown: 0 });
    return count;
  }
}

/** The card of a Turn's notice number `at`: the same one live and in a replay. */
export function noticeId(turnId: string, at: number): string {
  return `${turnId}.notice.${at}`;
}
