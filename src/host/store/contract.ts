import type { Answer, Grant, InteractionEnd } from "../../model/question.ts";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { Json } from "../../model/json.ts";
import type { Origin, Run, RunEnd } from "../../model/run.ts";
import type { RowHead } from "../../model/row.ts";
import type { SessionInfo } from "../contract.ts";

/** What the store keeps of a Turn or a background Run. */
export type TurnRecord =
  | {
    readonly state: "admitted";
    readonly run: Run;
    readonly foreground: boolean;
    readonly origin: Origin;
    /** Rows of the Run lie above this sequence. */
    readonly cut: number;
  }
  | {
    readonly state: "ended";
    readonly run: Run;
    readonly foreground: boolean;
    readonly origin: Origin;
    readonly cut: number;
    readonly end: RunEnd;
    readonly through: number;
  }
  /** A turnId that was settled as never admitted. */
  | { readonly state: "tombstone"; readonly turnId: string };

/** One write. The bodies of rows are kept as parts so that a long text is appended to, not rewritten. */
export type Write =
  /** The Session's listing entry; goes to the shared index too. */
  | { readonly op: "info"; readonly info: SessionInfo }
  | { readonly op: "turn"; readonly turn: TurnRecord }
  /** Begins a row, or replaces its head. */
  | { readonly op: "row"; readonly head: RowHead }
  /** Appends to a row's body at `offset`, which is its present length. */
  | { readonly op: "append"; readonly seq: number; readonly offset: number; readonly text: string }
  /** Replaces a row's whole body. */
  | { readonly op: "body"; readonly seq: number; readonly text: string }
  | { readonly op: "watermark"; readonly seq: number }
  | {
    readonly op: "interaction";
    readonly interactionId: string;
    readonly run: Run;
    readonly reason: InteractionEnd;
    readonly answer?: Answer;
    readonly by?: string;
  }
  | { readonly op: "grant"; readonly grant: Grant }
  | { readonly op: "revoke"; readonly grantId: string }
  | { readonly op: "artifact"; readonly artifact: ArtifactReference }
  | { readonly op: "pin"; readonly turnId: string; readonly artifactId: string }
  | { readonly op: "artifact_removed"; readonly artifactId: string }
  /** A configuration change that is done, so that its repetition is known. */
  | { readonly op: "change"; readonly changeId: string; readonly revision: number }
  | { readonly op: "engine_state"; readonly value: Json }
  /** Keyed digest of the MCP servers; the values never reach the disk. */
  | { readonly op: "mcp"; readonly digest: string };

/** How an Interaction ended, as the store keeps it. */
export interface InteractionRecord {
  /** The Run that asked. */
  readonly run: Run;
  /** Why it is closed. */
  readonly reason: InteractionEnd;
  /** The answer, where there was one. */
  readonly answer?: Answer;
  /** Who answered. */
  readonly by?: string;
}

/** What a Host reads when it takes hold of a Session. */
export interface SessionState {
  /** As lists show it. */
  readonly info: SessionInfo;
  /** Turns without an end: they were interrupted. */
  readonly unended: readonly TurnRecord[];
  /** The Grants in force. */
  readonly grants: readonly Grant[];
  /** What the Engine keeps for its next opening. */
  readonly engineState?: Json;
  /** Highest sequence that was announced. */
  readonly watermark: number;
  /** The highest sequence in use. */
  readonly last: number;
  /** Rows above the watermark, incomplete ones included. */
  readonly open: readonly RowHead[];
}

/**
 * One Session held by this process. `commit` is atomic and durable when its promise resolves; batches take effect in call order. A
 * failed commit rejects with `persistence_failed` and leaves nothing of its batch.
 */
export interface SessionStore {
  /** Its id. */
  readonly sessionId: string;
  /** Everything but the transcript. */
  load(): Promise<SessionState>;
  /** Writes all of the batch or nothing; durable when it resolves. */
  commit(batch: readonly Write[]): Promise<void>;
  /** Heads in order of sequence, at most `limit`. */
  heads(
    query: { turnId?: string; after: number; through?: number; limit: number },
  ): Promise<readonly RowHead[]>;
  /** At most `length` UTF-16 units of a row's body from `offset`. */
  body(seq: number, offset: number, length: number): Promise<string>;
  /**
   * Heads with the first `length` units of their bodies, in one go: what a full replay needs. Stops after `maxLength` units in
   * all (at least one row) or `limit` rows.
   */
  rows(
    query: {
      turnId?: string;
      after: number;
      through?: number;
      limit: number;
      length: number;
      maxLength: number;
    },
  ): Promise<
    readonly { readonly head: RowHead; readonly text: string }[]
  >;
  /** A Turn that was started or settled here; undefined for any other. */
  turn(turnId: string): Promise<TurnRecord | undefined>;
  /** An Interaction that was ever open here; undefined for any other. */
  interaction(interactionId: string): Promise<InteractionRecord | undefined>;
  /** The revision that a change made, where it was made. */
  change(changeId: string): Promise<number | undefined>;
  /** The bytes that belong to the Session. */
  artifacts: ArtifactFiles;
  /** Lets go of the Session and its lock. May be called twice. */
  close(): Promise<void>;
}

/**
 * The bytes of Artifacts and uploads. Content only: that an Artifact exists is a row (`artifact`), written after `seal` returned.
 */
export interface ArtifactFiles {
  /** Creates an empty upload; keeps one that is there. Returns its present size. */
  begin(uploadId: string): Promise<number>;
  /** Writes at the end. Returns the new size. */
  append(uploadId: string, bytes: Uint8Array): Promise<number>;
  /** Bytes of an upload that were written before, to compare a repetition with. */
  peek(uploadId: string, offset: number, length: number): Promise<Uint8Array>;
  /** Size and digest of an upload so far; undefined where there is none. */
  measure(uploadId: string): Promise<{ size: number; sha256: string } | undefined>;
  /** Makes the upload an Artifact file: write, sync, rename, sync the folder. */
  seal(uploadId: string, artifactId: string): Promise<void>;
  /** At most `length` bytes from `offset`. */
  read(artifactId: string, offset: number, length: number): Promise<Uint8Array>;
  /** Frees an upload or an Artifact; silent where there is none. */
  remove(id: string): Promise<void>;
  /** All committed Artifacts, oldest first. */
  list(): Promise<readonly { readonly artifact: ArtifactReference; readonly pinned: boolean }[]>;
}

/** All Sessions of one state folder, or of this process's memory. */
export interface Store {
  /** Names the folder for ever. */
  readonly storeId: string;
  /** Where it is, for `doctor`; undefined in memory. */
  readonly folder?: string;
  /** Newest first (updatedAt, then sessionId). `cursor` is what `next` was. */
  list(
    query: { cwd?: string; cursor?: string; limit: number },
  ): Promise<{ sessions: readonly SessionInfo[]; next?: string }>;
  /** A Session as lists show it; undefined where there is none. */
  get(sessionId: string): Promise<SessionInfo | undefined>;
  /** What an Engine calls those of its Sessions that are here. */
  keptAs(engineId: string): Promise<ReadonlySet<string>>;
  /** Creates and holds a Session with `first` in it, durable when it resolves: all of it or nothing. `conflict` where the id exists. */
  create(info: SessionInfo, first?: readonly Write[]): Promise<SessionStore>;
  /** Takes hold of a Session: `busy` (data.pid, data.program where known) when another process has it, `not_found`. */
  hold(sessionId: string): Promise<SessionStore>;
  /** Removes a Session that this process does not hold any more. Silent where there is none; `busy` where another holds it. */
  remove(sessionId: string): Promise<void>;
  /** Lets go of everything. May be called twice. */
  close(): Promise<void>;
}
