import { clearImmediate, setImmediate } from "node:timers";
import type { RowHead } from "../../model/row.ts";
import type { SessionInfo } from "../contract.ts";
import type { InteractionRecord, SessionState, SessionStore, TurnRecord, Write } from "./contract.ts";
import { storeClosed } from "./failure.ts";
import type { FolderArtifacts } from "./folder_artifacts.ts";
import type { SessionDb } from "./session_db.ts";
import type { SessionLock } from "./session_lock.ts";
import type { SessionPlace } from "./state_folder.ts";
import { storageFailure } from "./storage_failure.ts";
import type { WrittenAhead } from "./written_ahead.ts";

interface Waiting {
  readonly batch: readonly Write[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** What a held Session is made of; it owns them until its close. */
export interface SessionParts {
  readonly place: SessionPlace;
  readonly db: SessionDb;
  readonly lock: SessionLock;
  readonly artifacts: FolderArtifacts;
  /** Makes every commit so far durable. */
  readonly ahead: Pick<WrittenAhead, "sync" | "close">;
  /** Told of each new listing entry after its commit. Must not throw. */
  readonly listed: (info: SessionInfo) => void;
  /** Told of a commit before it, and after it before its callers are. */
  readonly committing: (stage: "begun" | "done") => void;
  /** Told at the end of the close. */
  readonly released: () => void;
}

/**
 * A Session of a state folder, held by this process. Batches of the same turn of the event loop share one commit, because the
 * disk takes as long for many as for one. After a sync that failed nobody knows what is on the disk: nothing is taken any more.
 */
export class FolderSession implements SessionStore {
  readonly sessionId: string;
  readonly artifacts: FolderArtifacts;
  readonly #parts: SessionParts;
  #waiting: Waiting[] = [];
  #flush: ReturnType<typeof setImmediate> | undefined;
  /** Resolves when the callers of every commit so far know. */
  #told: Promise<void> = Promise.resolve();
  #failure: unknown;
  #closing: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.sessionId = parts.place.sessionId;
    this.artifacts = parts.artifacts;
  }

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async load(): Promise<SessionState> {
    return this.#read().state();
  }

  commit(batch: readonly Write[]): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(storeClosed(`The Session "${this.sessionId}"`));
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((done, failed) => {
      this.#waiting.push({ batch, done, failed });
      this.#flush ??= setImmediate(() => this.#commitWaiting());
    });
  }

  // deno-lint-ignore require-await
  async heads(
    query: { turnId?: string; after: number; through?: number; limit: number },
  ): Promise<readonly RowHead[]> {
    return this.#read().transcript.heads(query, query.limit);
  }

  // deno-lint-ignore require-await
  async body(seq: number, offset: number, length: number): Promise<string> {
    return this.#read().transcript.body(seq, offset, length);
  }

  // deno-lint-ignore require-await
  async rows(
    query: {
      turnId?: string;
      after: number;
      through?: number;
      limit: number;
      length: number;
      maxLength: number;
    },
  ): Promise<readonly { readonly head: RowHead; readonly text: string }[]> {
    return this.#read().transcript.rows(query, query);
  }

  // deno-lint-ignore require-await
  async turn(turnId: string): Promise<TurnRecord | undefined> {
    return this.#read().turn(turnId);
  }

  // deno-lint-ignore require-await
  async interaction(interactionId: string): Promise<InteractionRecord | undefined> {
    return this.#read().interaction(interactionId);
  }

  // deno-lint-ignore require-await
  async change(changeId: string): Promise<number | undefined> {
    return this.#read().change(changeId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { artifacts, db, ahead, lock, released } = this.#parts;
    try {
      this.#commitWaiting();
      await this.#told;
      await artifacts.close();
    } finally {
      await ahead.close();
      db.close();
      lock.release();
      released();
    }
  }

  /** The database for a reader, who finds all that was written before, acknowledged or not. */
  #read(): SessionDb {
    if (this.#closing !== undefined) throw storeClosed(`The Session "${this.sessionId}"`);
    this.#commitWaiting();
    return this.#parts.db;
  }

  #commitWaiting(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    const group = this.#waiting;
    if (group.length === 0) return;
    this.#waiting = [];
    this.#parts.committing("begun");
    const errors = this.#parts.db.commit(group.map(({ batch }) => batch));
    let info: SessionInfo | undefined;
    group.forEach(({ batch }, at) => {
      if (errors[at] !== undefined) return;
      for (const write of batch) if (write.op === "info") info = write.info;
    });
    this.#told = this.#tell(group, errors, this.#told);
    if (info !== undefined) this.#parts.listed(info);
  }

  /** Lets callers know, in their order, once the disk has what they wrote. Never rejects. */
  async #tell(group: readonly Waiting[], errors: readonly unknown[], before: Promise<void>): Promise<void> {
    const { ahead, committing, place } = this.#parts;
    try {
      await ahead.sync();
    } catch (cause) {
      this.#failure ??= storageFailure(cause, place);
    }
    await before;
    if (this.#failure === undefined) committing("done");
    group.forEach(({ done, failed }, at) => {
      const error = errors[at] ?? this.#failure;
      if (error === undefined) done();
      else failed(error);
    });
  }
}
