import type { ArtifactReference } from "../../model/artifact.ts";
import type { Grant } from "../../model/question.ts";
import type { Json } from "../../model/json.ts";
import type { SessionInfo } from "../contract.ts";
import type { InteractionRecord, SessionState, TurnRecord, Write } from "./contract.ts";
import type { Blank } from "./blank.ts";
import { Database } from "./database.ts";
import { batchRefused } from "./failure.ts";
import { Names } from "./names.ts";
import { FACT, RECORD, SESSION_SCHEMA } from "./session_schema.ts";
import { type SessionPlace, syncWithin } from "./state_folder.ts";
import { storageFailure, storageRefusal } from "./storage_failure.ts";
import { toColumn } from "./text_column.ts";
import { Transcript } from "./transcript.ts";
import { TranscriptBatch } from "./transcript_batch.ts";

/** The file in a Session's folder that has the last commits. */
const WRITTEN_AHEAD = "session.db-wal";

/** One Session's database. Everything here is synchronous; every error is a HostError. */
export class SessionDb {
  readonly #place: SessionPlace;
  readonly #db: Database;
  readonly #names: Names;
  /** Where the file is. */
  readonly path: string;
  /** Reads rows. */
  readonly transcript: Transcript;
  #last: number;

  /** Opens what is there. */
  constructor(place: SessionPlace) {
    this.#place = place;
    this.path = pathIn(place);
    this.#db = new Database(this.path, place, SESSION_SCHEMA);
    this.#names = new Names(this.#db);
    this.transcript = new Transcript(this.#db, this.#names);
    try {
      this.#last = this.transcript.last();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Makes a new one, which is on the disk as soon as the name of its folder is. */
  static create(
    place: SessionPlace,
    blank: Blank,
    info: SessionInfo,
    first: readonly Write[] = [],
  ): SessionDb {
    try {
      blank.put(pathIn(place));
    } catch (cause) {
      throw storageFailure(cause, place);
    }
    const made = new SessionDb(place);
    try {
      made.#begin(info, first);
      made.#db.guard(() => syncWithin(place.path, WRITTEN_AHEAD));
      return made;
    } catch (error) {
      made.close();
      throw error;
    }
  }

  /** The listing entry: the true one, where the index differs. Throws `empty` where a crash came before there was one. */
  info(): SessionInfo {
    const info = this.#fact(FACT.info);
    if (info === undefined) throw storageRefusal("empty", this.#place);
    return this.#read<SessionInfo>(info);
  }

  /** What a Host needs to go on. */
  state(): SessionState {
    const watermark = Number(this.#fact(FACT.watermark) ?? 0);
    const engineState = this.#fact(FACT.engineState);
    return {
      info: this.info(),
      unended: this.#db.all(
        "SELECT record FROM records WHERE kind = ? AND marked = 1 ORDER BY key",
        RECORD.turn,
      ).map(([record]) => this.#read<TurnRecord>(record)),
      grants: this.#all<Grant>(RECORD.grant).map(({ record }) => record),
      engineState: engineState === undefined ? undefined : this.#read<Json>(engineState),
      watermark,
      last: Math.max(this.#last, watermark),
      open: this.transcript.heads({ after: watermark }, Infinity),
    };
  }

  /**
   * Takes batches in one commit. A batch that cannot be taken leaves nothing and does not stop the others: the answer has
   * its error in its place, the others undefined.
   */
  commit(batches: readonly (readonly Write[])[]): readonly unknown[] {
    const together = this.#attempt(batches);
    if (together === undefined) return batches.map(() => undefined);
    if (batches.length === 1) return [together];
    return batches.map((batch) => this.#attempt([batch]));
  }

  /** The record of a Turn. */
  turn(turnId: string): TurnRecord | undefined {
    return this.#find<TurnRecord>(RECORD.turn, turnId)?.record;
  }

  /** How an Interaction ended. */
  interaction(interactionId: string): InteractionRecord | undefined {
    return this.#find<InteractionRecord>(RECORD.interaction, interactionId)?.record;
  }

  /** The revision that a change made. */
  change(changeId: string): number | undefined {
    return this.#find<number>(RECORD.change, changeId)?.record;
  }

  /** Artifacts in the order in which they came. */
  artifacts(): readonly { readonly artifact: ArtifactReference; readonly pinned: boolean }[] {
    return this.#all<ArtifactReference>(RECORD.artifact).map(({ record, marked }) => ({
      artifact: record,
      pinned: marked,
    }));
  }

  /** Closes the file. */
  close(): void {
    this.#db.close();
  }

  #begin(info: SessionInfo, first: readonly Write[]): void {
    const put = () => putFact(this.#db, FACT.info, JSON.stringify(info));
    // What is synced behind it is enough as long as SQLite has moved nothing of it.
    if (first.length === 0) return this.#db.first(put);
    const facts = new Map<number, string>();
    this.#db.transaction(() => {
      put();
      this.#apply(first, facts);
      for (const [key, value] of facts) putFact(this.#db, key, value);
    });
  }

  #attempt(batches: readonly (readonly Write[])[]): unknown {
    const before = this.#last;
    // Batches that share a commit overwrite each other's facts: the last one counts.
    const facts = new Map<number, string>();
    try {
      this.#db.transaction(() => {
        for (const batch of batches) this.#apply(batch, facts);
        for (const [key, value] of facts) putFact(this.#db, key, value);
      });
      return undefined;
    } catch (error) {
      this.#last = before;
      this.#names.forget();
      return error;
    }
  }

  #apply(batch: readonly Write[], facts: Map<number, string>): void {
    const rows = new TranscriptBatch(this.#db, this.#names, this.transcript, this.#last);
    for (const write of batch) {
      switch (write.op) {
        case "row":
        case "append":
        case "body":
          this.#check(rows.take(write));
          break;
        case "artifact":
        case "pin":
        case "artifact_removed":
          this.#check(this.#putArtifact(write));
          break;
        case "info":
          facts.set(FACT.info, JSON.stringify(write.info));
          break;
        case "watermark":
          facts.set(FACT.watermark, String(write.seq));
          break;
        case "engine_state":
          facts.set(FACT.engineState, JSON.stringify(write.value));
          break;
        case "mcp":
          facts.set(FACT.mcp, write.digest);
          break;
        default:
          this.#putRecord(write);
      }
    }
    this.#last = rows.flush();
  }

  #check(reason: string | undefined): void {
    if (reason !== undefined) throw batchRefused(this.#place.sessionId, reason);
  }

  #putRecord(write: Extract<Write, { op: "turn" | "interaction" | "grant" | "revoke" | "change" }>): void {
    switch (write.op) {
      case "turn": {
        const { turn } = write;
        const turnId = turn.state === "tombstone" ? turn.turnId : turn.run.turnId;
        return this.#keep(RECORD.turn, turnId, turn, turn.state === "admitted");
      }
      case "interaction": {
        const { op: _, interactionId, ...record } = write;
        return this.#keep(RECORD.interaction, interactionId, record);
      }
      case "grant":
        return this.#keep(RECORD.grant, write.grant.grantId, write.grant);
      case "revoke":
        return this.#drop(RECORD.grant, write.grantId);
      case "change":
        return this.#keep(RECORD.change, write.changeId, write.revision);
    }
  }

  /** Returns why the write does not fit what is there. */
  #putArtifact(write: Extract<Write, { op: "artifact" | "pin" | "artifact_removed" }>): string | undefined {
    const id = write.op === "artifact" ? write.artifact.artifactId : write.artifactId;
    const present = this.#find<ArtifactReference>(RECORD.artifact, id);
    if (write.op === "artifact") {
      this.#keep(RECORD.artifact, id, write.artifact, present?.marked);
    } else if (write.op === "pin") {
      if (present === undefined) return `there is no Artifact "${id}" to pin`;
      this.#keep(RECORD.artifact, id, present.record, true);
    } else {
      if (present?.marked) return `a Turn uses the Artifact "${id}"`;
      this.#drop(RECORD.artifact, id);
    }
    return undefined;
  }

  #keep(kind: number, id: string, record: unknown, marked = false): void {
    this.#db.run(
      `INSERT INTO records (kind, id, marked, record) VALUES (?, ?, ?, ?)
       ON CONFLICT (kind, id) DO UPDATE SET marked = excluded.marked, record = excluded.record`,
      kind,
      toColumn(id),
      marked ? 1 : 0,
      JSON.stringify(record),
    );
  }

  #drop(kind: number, id: string): void {
    this.#db.run("DELETE FROM records WHERE kind = ? AND id = ?", kind, toColumn(id));
  }

  #find<T>(kind: number, id: string): { readonly record: T; readonly marked: boolean } | undefined {
    const found = this.#db.get(
      "SELECT record, marked FROM records WHERE kind = ? AND id = ?",
      kind,
      toColumn(id),
    );
    return found && { record: this.#read<T>(found[0]), marked: found[1] === 1 };
  }

  #all<T>(kind: number): readonly { readonly record: T; readonly marked: boolean }[] {
    return this.#db.all("SELECT record, marked FROM records WHERE kind = ? ORDER BY key", kind)
      .map(([record, marked]) => ({ record: this.#read<T>(record), marked: marked === 1 }));
  }

  #fact(key: number): unknown {
    return this.#db.get("SELECT value FROM facts WHERE key = ?", key)?.[0];
  }

  #read<T>(record: unknown): T {
    return this.#db.guard(() => JSON.parse(String(record)) as T);
  }
}

function pathIn(place: SessionPlace): string {
  return `${place.path}/session.db`;
}

function putFact(db: Database, key: number, value: string): void {
  db.run(
    "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}
