import type { ArtifactReference } from "../../model/artifact.ts";
import type { Grant } from "../../model/question.ts";
import type { Json } from "../../model/json.ts";
import type { SessionInfo } from "../contract.ts";
import type { InteractionRecord, SessionState, TurnRecord, Write } from "./contract.ts";
import { Database, type Value } from "./database.ts";
import { batchRefused } from "./failure.ts";
import { Names } from "./names.ts";
import { FACT, SESSION_SCHEMA } from "./session_schema.ts";
import type { SessionPlace } from "./state_folder.ts";
import { storageRefusal } from "./storage_failure.ts";
import { toColumn } from "./text_column.ts";
import { Transcript } from "./transcript.ts";
import { TranscriptBatch } from "./transcript_batch.ts";

/** One Session's database. Everything here is synchronous; every error is a HostError. */
export class SessionDb {
  readonly #place: SessionPlace;
  readonly #db: Database;
  readonly #names: Names;
  /** Reads rows. */
  readonly transcript: Transcript;
  #last: number;

  /** Opens what is there, or makes a new one for `info`. */
  constructor(place: SessionPlace, info?: SessionInfo) {
    this.#place = place;
    const begin = info && ((db: Database) => putFact(db, FACT.info, JSON.stringify(info)));
    this.#db = new Database(`${place.path}/session.db`, place, SESSION_SCHEMA, begin);
    this.#names = new Names(this.#db);
    this.transcript = new Transcript(this.#db, this.#names);
    try {
      this.#last = this.transcript.last();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** The listing entry: the true one, where the index differs. */
  info(): SessionInfo {
    return this.#read<SessionInfo>(this.#fact(FACT.info));
  }

  /** What a Host needs to go on. */
  state(): SessionState {
    const watermark = Number(this.#fact(FACT.watermark) ?? 0);
    const engineState = this.#fact(FACT.engineState);
    return {
      info: this.info(),
      unended: this.#records<TurnRecord>("SELECT record FROM turns WHERE open = 1 ORDER BY key"),
      grants: this.#records<Grant>("SELECT record FROM grants ORDER BY key"),
      engineState: engineState === undefined ? undefined : this.#read<Json>(engineState),
      watermark,
      last: Math.max(this.#last, watermark),
      open: this.transcript.heads({ after: watermark }, Infinity),
    };
  }

  /**
   * Takes batches in one commit. A batch that cannot be taken leaves nothing and does not stop the others: the answer has
   * its error in its place.
   */
  commit(batches: readonly (readonly Write[])[]): readonly (unknown | undefined)[] {
    const together = this.#attempt(batches);
    if (together === undefined) return batches.map(() => undefined);
    if (batches.length === 1) return [together];
    return batches.map((batch) => this.#attempt([batch]));
  }

  /** The record of a Turn. */
  turn(turnId: string): TurnRecord | undefined {
    return this.#records<TurnRecord>("SELECT record FROM turns WHERE turn_id = ?", toColumn(turnId))[0];
  }

  /** How an Interaction ended. */
  interaction(interactionId: string): InteractionRecord | undefined {
    return this.#records<InteractionRecord>(
      "SELECT record FROM interactions WHERE interaction_id = ?",
      toColumn(interactionId),
    )[0];
  }

  /** The revision that a change made. */
  change(changeId: string): number | undefined {
    const found = this.#db.get("SELECT revision FROM changes WHERE change_id = ?", toColumn(changeId));
    return found && Number(found[0]);
  }

  /** Artifacts in the order in which they came. */
  artifacts(): readonly { readonly artifact: ArtifactReference; readonly pinned: boolean }[] {
    return this.#db.all(
      `SELECT record, EXISTS (SELECT 1 FROM pins WHERE artifact = artifacts.key) FROM artifacts ORDER BY key`,
    ).map(([record, pinned]) => ({ artifact: this.#read<ArtifactReference>(record), pinned: pinned === 1 }));
  }

  /** Closes the file. */
  close(): void {
    this.#db.close();
  }

  #attempt(batches: readonly (readonly Write[])[]): unknown | undefined {
    const before = this.#last;
    try {
      this.#db.transaction(() => {
        for (const batch of batches) this.#apply(batch);
      });
      return undefined;
    } catch (error) {
      this.#last = before;
      this.#names.forget();
      return error;
    }
  }

  #apply(batch: readonly Write[]): void {
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
        default:
          this.#put(write);
      }
    }
    this.#last = rows.flush();
  }

  #check(reason: string | undefined): void {
    if (reason !== undefined) throw batchRefused(this.#place.sessionId, reason);
  }

  #put(
    write: Exclude<Write, { op: "row" | "append" | "body" | "artifact" | "pin" | "artifact_removed" }>,
  ): void {
    switch (write.op) {
      case "info":
        return putFact(this.#db, FACT.info, JSON.stringify(write.info));
      case "watermark":
        return putFact(this.#db, FACT.watermark, String(write.seq));
      case "engine_state":
        return putFact(this.#db, FACT.engineState, JSON.stringify(write.value));
      case "mcp":
        return putFact(this.#db, FACT.mcp, write.digest);
      case "turn": {
        const { turn } = write;
        return this.#db.run(
          `INSERT INTO turns (turn_id, open, record) VALUES (?, ?, ?)
           ON CONFLICT (turn_id) DO UPDATE SET open = excluded.open, record = excluded.record`,
          toColumn(turn.state === "tombstone" ? turn.turnId : turn.run.turnId),
          turn.state === "admitted" ? 1 : 0,
          JSON.stringify(turn),
        );
      }
      case "interaction": {
        const { op: _, interactionId, ...record } = write;
        return this.#db.run(
          `INSERT INTO interactions (interaction_id, record) VALUES (?, ?)
           ON CONFLICT (interaction_id) DO UPDATE SET record = excluded.record`,
          toColumn(interactionId),
          JSON.stringify(record),
        );
      }
      case "grant":
        return this.#db.run(
          `INSERT INTO grants (grant_id, record) VALUES (?, ?)
           ON CONFLICT (grant_id) DO UPDATE SET record = excluded.record`,
          toColumn(write.grant.grantId),
          JSON.stringify(write.grant),
        );
      case "revoke":
        return this.#db.run("DELETE FROM grants WHERE grant_id = ?", toColumn(write.grantId));
      case "change":
        return this.#db.run(
          `INSERT INTO changes (change_id, revision) VALUES (?, ?)
           ON CONFLICT (change_id) DO UPDATE SET revision = excluded.revision`,
          toColumn(write.changeId),
          write.revision,
        );
    }
  }

  /** Returns why the write does not fit what is there. */
  #putArtifact(write: Extract<Write, { op: "artifact" | "pin" | "artifact_removed" }>): string | undefined {
    if (write.op === "artifact") {
      this.#db.run(
        `INSERT INTO artifacts (artifact_id, record) VALUES (?, ?)
         ON CONFLICT (artifact_id) DO UPDATE SET record = excluded.record`,
        write.artifact.artifactId,
        JSON.stringify(write.artifact),
      );
      return undefined;
    }
    const found = this.#db.get(
      `SELECT key, EXISTS (SELECT 1 FROM pins WHERE artifact = artifacts.key) FROM artifacts WHERE artifact_id = ?`,
      write.artifactId,
    );
    if (write.op === "pin") {
      if (found === undefined) return `there is no Artifact "${write.artifactId}" to pin`;
      const values: Value[] = [Number(found[0]), toColumn(write.turnId)];
      this.#db.run("INSERT INTO pins (artifact, turn_id) VALUES (?, ?) ON CONFLICT DO NOTHING", ...values);
    } else if (found !== undefined) {
      if (found[1] === 1) return `a Turn uses the Artifact "${write.artifactId}"`;
      this.#db.run("DELETE FROM artifacts WHERE key = ?", Number(found[0]));
    }
    return undefined;
  }

  #fact(key: number): unknown {
    return this.#db.get("SELECT value FROM facts WHERE key = ?", key)?.[0];
  }

  #records<T>(sql: string, ...values: Value[]): readonly T[] {
    return this.#db.all(sql, ...values).map(([record]) => this.#read<T>(record));
  }

  /** A record that cannot be read means that the file was damaged: nothing else writes there. */
  #read<T>(record: unknown): T {
    try {
      return JSON.parse(String(record)) as T;
    } catch (cause) {
      throw storageRefusal("damaged", this.#place, cause);
    }
  }
}

function putFact(db: Database, key: number, value: string): void {
  db.run(
    "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}
