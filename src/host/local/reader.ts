import type { HeldBody, ReadPage, ReadRequest } from "../contract.ts";
import type { Row, RowHead } from "../../model/row.ts";
import type { SessionStore } from "../store/contract.ts";
import { TextDigest } from "../../model/digest.ts";
import { HostError } from "../errors.ts";
import type { Journal } from "./journal.ts";
import type { RowView } from "./row.ts";

/** Rows of one page. Bounds a page of rows that have hardly any text. */
const PAGE_ROWS = 1024;
/** Units that are read at a time to take the digest of a prefix. */
const DIGEST_LENGTH = 256 * 1024;
/** How much of a digest a cursor carries to notice a body that was written anew. */
const TAG_LENGTH = 12;

/** Where a page goes on: at `offset` of the row `seq`, if its body still has `tag`. */
interface Position {
  readonly seq: number;
  readonly offset: number;
  readonly tag: string;
}

/** A row that a page may serve; `front` is the part of its body that came with it. */
interface Candidate {
  readonly head: RowHead;
  readonly front: string;
  readonly view?: RowView;
}

/** Thrown inside when a message was reset while it was read; the page is read again. */
class TakenBack extends Error {}

/** Serves the transcript of a Session from the store and, for what is not saved yet, from the journal. */
export class TranscriptReader {
  readonly #store: SessionStore;
  readonly #journal: Journal;

  constructor(store: SessionStore, journal: Journal) {
    this.#store = store;
    this.#journal = journal;
  }

  /** Reads one page. `invalid` for a cursor that is not from here. */
  async read(request: ReadRequest): Promise<ReadPage> {
    const from = request.cursor === undefined
      ? { seq: request.after + 1, offset: 0, tag: "" }
      : positionOf(request.cursor);
    for (;;) {
      try {
        return await this.#page(request, from);
      } catch (error) {
        if (!(error instanceof TakenBack)) throw error;
      }
    }
  }

  async #page(request: ReadRequest, from: Position): Promise<ReadPage> {
    const page = new Page(request.maxLength);
    const held = new Map((request.held ?? []).map((each) => [`${each.kind} ${each.id}`, each]));
    // Rows that begin while the page is read are left to the next one, so that none is skipped.
    const through = Math.min(request.through ?? Infinity, this.#journal.last);
    for await (const row of this.#candidates(request, from.seq, through, held.size === 0)) {
      const { head } = row;
      const goesOn = head.seq === from.seq && from.offset > 0;
      if (page.full) return page.until(goesOn ? from : { seq: head.seq, offset: 0, tag: "" });
      let offset = 0;
      if (goesOn) {
        const same = head.kind !== "tool" || from.tag === tagOf(head);
        offset = same && from.offset <= head.length ? from.offset : 0;
      } else {
        const known = held.get(`${head.kind} ${head.id}`);
        if (known !== undefined && await this.#holds(row, known)) {
          if (known.length === head.length) {
            page.leaveOut(head);
            continue;
          }
          offset = known.length;
        }
      }
      const text = await this.#text(row, offset, page.take(head.length - offset));
      if (text === "" && offset < head.length) throw damaged(head);
      const end = offset + page.add(head, offset, text);
      if (end < head.length) return page.until({ seq: head.seq, offset: end, tag: tagOf(head) });
    }
    return page.last();
  }

  /** Rows from `seq` to `through` in order, those of the journal in the place of their saved state. */
  async *#candidates(
    request: ReadRequest,
    seq: number,
    through: number,
    withText: boolean,
  ): AsyncGenerator<Candidate> {
    const { turnId, maxLength } = request;
    const views = this.#journal.pending({ turnId, from: seq, through });
    const pending = new Set(views.map((view) => view.head.seq));
    let next = 0;
    for (let after = seq - 1; after < through;) {
      const query = { turnId, after, through, limit: PAGE_ROWS };
      const batch: readonly { head: RowHead; text: string }[] = withText
        ? await this.#store.rows({ ...query, length: maxLength, maxLength })
        : (await this.#store.heads(query)).map((head) => ({ head, text: "" }));
      for (const { head, text } of batch) {
        for (; next < views.length && viewAt(views, next).head.seq <= head.seq; next++) {
          yield candidateOf(viewAt(views, next));
        }
        if (!pending.has(head.seq)) yield { head, front: text };
      }
      const end = batch.at(-1);
      if (end === undefined) break;
      after = end.head.seq;
    }
    for (; next < views.length; next++) yield candidateOf(viewAt(views, next));
  }

  async #text(row: Candidate, offset: number, length: number): Promise<string> {
    if (length === 0) return "";
    if (row.view === undefined) {
      if (offset + length <= row.front.length) return row.front.slice(offset, offset + length);
      return await this.#store.body(row.head.seq, offset, length);
    }
    const text = await row.view.text(offset, length);
    if (text === undefined) throw new TakenBack();
    return text;
  }

  /** Whether the body begins with what a reader holds of it. */
  async #holds(row: Candidate, held: HeldBody): Promise<boolean> {
    if (held.length === row.head.length) return held.sha256 === row.head.sha256;
    if (held.length > row.head.length) return false;
    const digest = new TextDigest();
    while (digest.length < held.length) {
      const length = Math.min(DIGEST_LENGTH, held.length - digest.length);
      const text = await this.#text(row, digest.length, length);
      if (text === "") return false;
      digest.update(text);
    }
    return digest.hex() === held.sha256;
  }
}

/** A page that is being filled. */
class Page {
  readonly #rows: Row[] = [];
  #room: number;

  constructor(maxLength: number) {
    this.#room = Math.max(1, maxLength);
  }

  get full(): boolean {
    return this.#room <= 0 || this.#rows.length >= PAGE_ROWS;
  }

  /** How much of a body of that length fits. */
  take(length: number): number {
    return Math.min(length, this.#room);
  }

  /** Adds a fragment, cut so that it does not part a surrogate pair; returns its length. */
  add(head: RowHead, offset: number, text: string): number {
    const last = text.charCodeAt(text.length - 1);
    const parted = text.length > 1 && offset + text.length < head.length && last >= 0xd800 && last <= 0xdbff;
    const whole = parted ? text.slice(0, -1) : text;
    this.#rows.push({ ...head, body: { offset, text: whole } });
    this.#room -= text.length;
    return whole.length;
  }

  leaveOut(head: RowHead): void {
    this.#rows.push(head);
  }

  until({ seq, offset, tag }: Position): ReadPage {
    return { rows: this.#rows, cursor: `${seq}.${offset}.${tag}` };
  }

  last(): ReadPage {
    return { rows: this.#rows };
  }
}

function damaged(head: RowHead): HostError {
  return new HostError(
    "persistence_failed",
    `Cannot read row ${head.seq} of the transcript: the store has less of it than it recorded`,
  );
}

function tagOf(head: RowHead): string {
  return head.sha256.slice(0, TAG_LENGTH);
}

function viewAt(views: readonly RowView[], index: number): RowView {
  const view = views[index];
  if (view === undefined) throw new RangeError(`There is no pending row ${index}`);
  return view;
}

function candidateOf(view: RowView): Candidate {
  return { head: view.head, front: "", view };
}

function positionOf(cursor: string): Position {
  const parts = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{0,12})$/.exec(cursor);
  if (parts === null) {
    throw new HostError("invalid", "The cursor is not from this transcript: read again without a cursor");
  }
  return { seq: Number(parts[1]), offset: Number(parts[2]), tag: parts[3] ?? "" };
}
