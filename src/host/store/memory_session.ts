import type { Grant } from "../../model/question.ts";
import type { Json } from "../../model/json.ts";
import type { RowHead } from "../../model/row.ts";
import type { SessionInfo } from "../contract.ts";
import type { InteractionRecord, SessionState, SessionStore, TurnRecord, Write } from "./contract.ts";
import { batchRefused, storeClosed } from "./failure.ts";
import { MemoryArtifacts, MemoryFiles } from "./memory_artifacts.ts";
import { MemoryRows } from "./memory_rows.ts";

/** All that the memory store keeps of one Session. */
export class MemoryRecord {
  info: SessionInfo;
  readonly turns: Map<string, TurnRecord> = new Map();
  readonly rows: MemoryRows = new MemoryRows();
  readonly interactions: Map<string, InteractionRecord> = new Map();
  readonly grants: Map<string, Grant> = new Map();
  readonly changes: Map<string, number> = new Map();
  readonly files: MemoryFiles = new MemoryFiles();
  engineState: Json | undefined;
  watermark = 0;

  constructor(info: SessionInfo) {
    this.info = info;
  }

  /** Takes a whole batch or, by throwing a reason, nothing of it. */
  apply(batch: readonly Write[]): void {
    const staged = this.rows.stage();
    const files = this.files.stage();
    for (const write of batch) {
      if (write.op === "row" || write.op === "append" || write.op === "body") staged.write(write);
      else if (write.op === "artifact" || write.op === "pin" || write.op === "artifact_removed") {
        files.write(write);
      }
    }
    staged.keep();
    files.keep();
    for (const write of batch) this.#take(write);
  }

  /** The writes that nothing can be wrong with. */
  #take(write: Write): void {
    switch (write.op) {
      case "info":
        this.info = write.info;
        break;
      case "turn":
        this.turns.set(turnIdOf(write.turn), write.turn);
        break;
      case "watermark":
        this.watermark = write.seq;
        break;
      case "interaction": {
        const { op: _, interactionId, ...record } = write;
        this.interactions.set(interactionId, record);
        break;
      }
      case "grant":
        this.grants.set(write.grant.grantId, write.grant);
        break;
      case "revoke":
        this.grants.delete(write.grantId);
        break;
      case "change":
        this.changes.set(write.changeId, write.revision);
        break;
      case "engine_state":
        this.engineState = write.value;
        break;
    }
  }
}

function turnIdOf(turn: TurnRecord): string {
  return turn.state === "tombstone" ? turn.turnId : turn.run.turnId;
}

/** This process's hold on a {@linkcode MemoryRecord}. */
export class MemorySession implements SessionStore {
  readonly sessionId: string;
  readonly artifacts: MemoryArtifacts;
  readonly #record: MemoryRecord;
  readonly #released: () => void;
  #closed = false;

  constructor(sessionId: string, record: MemoryRecord, released: () => void) {
    this.sessionId = sessionId;
    this.artifacts = new MemoryArtifacts(sessionId, record.files);
    this.#record = record;
    this.#released = released;
  }

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async load(): Promise<SessionState> {
    const record = this.#open();
    return {
      info: record.info,
      unended: [...record.turns.values()].filter((turn) => turn.state === "admitted"),
      grants: [...record.grants.values()],
      engineState: record.engineState,
      watermark: record.watermark,
      last: Math.max(record.rows.last, record.watermark),
      open: [...record.rows.heads({ after: record.watermark })],
    };
  }

  // deno-lint-ignore require-await
  async commit(batch: readonly Write[]): Promise<void> {
    const record = this.#open();
    try {
      record.apply(batch);
    } catch (cause) {
      throw batchRefused(this.sessionId, cause instanceof Error ? cause.message : String(cause));
    }
  }

  // deno-lint-ignore require-await
  async heads(
    query: { turnId?: string; after: number; through?: number; limit: number },
  ): Promise<readonly RowHead[]> {
    return [...this.#open().rows.heads(query).take(query.limit)];
  }

  // deno-lint-ignore require-await
  async body(seq: number, offset: number, length: number): Promise<string> {
    return this.#open().rows.body(seq).slice(offset, offset + length);
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
    const { rows } = this.#open();
    const found: { head: RowHead; text: string }[] = [];
    let room = query.maxLength;
    for (const head of rows.heads(query).take(query.limit)) {
      const text = rows.body(head.seq).slice(0, query.length);
      room -= text.length;
      if (room < 0 && found.length > 0) break;
      found.push({ head, text });
    }
    return found;
  }

  // deno-lint-ignore require-await
  async turn(turnId: string): Promise<TurnRecord | undefined> {
    return this.#open().turns.get(turnId);
  }

  // deno-lint-ignore require-await
  async interaction(interactionId: string): Promise<InteractionRecord | undefined> {
    return this.#open().interactions.get(interactionId);
  }

  // deno-lint-ignore require-await
  async change(changeId: string): Promise<number | undefined> {
    return this.#open().changes.get(changeId);
  }

  // deno-lint-ignore require-await
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.artifacts.close();
    this.#released();
  }

  #open(): MemoryRecord {
    if (this.#closed) throw storeClosed(`The Session "${this.sessionId}"`);
    return this.#record;
  }
}
