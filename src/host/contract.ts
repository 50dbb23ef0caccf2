import type { Answer, Grant, InteractionEnd } from "../model/question.ts";
import type { ArtifactReference } from "../model/artifact.ts";
import type { Command, Usage } from "../model/plan.ts";
import type { Config, ConfigChange, ConfigOption } from "../model/config.ts";
import type { ClientHello, ExtensionAnswer, ExtensionEvent, ExtensionMessage } from "../model/extension.ts";
import type { FrameBatch, Snapshot } from "../model/frame.ts";
import type { Json, JsonObject, Meta } from "../model/json.ts";
import type { SessionMetas } from "../model/metas.ts";
import type { Origin, Run, RunEnd } from "../model/run.ts";
import type { Row } from "../model/row.ts";
import type { TurnInput } from "../model/prompt.ts";
import type { Reply } from "./errors.ts";

/** What an Engine can do before anything is started: static data. */
export interface EngineProfile {
  /** As in `--agent`. */
  readonly engineId: string;
  /** Its name for people. */
  readonly title: string;
  /** Its own version. */
  readonly version?: string;
  /** Options of a new Session with their defaults. */
  readonly options: readonly ConfigOption[];
  /** Commands that a prompt may begin with. */
  readonly commands: readonly Command[];
  /** What a prompt may hold besides text and links. */
  readonly prompt: { readonly image: boolean; readonly audio: boolean; readonly embeddedContext: boolean };
  /** Which transports of MCP servers it takes beside stdio. */
  readonly mcp: { readonly http: boolean; readonly sse: boolean };
  /** Whether the Engine takes a linked directory as a bare reference. */
  readonly linkedDirectories: boolean;
  /** Login methods in ACP's own shape; empty where no login is needed. */
  readonly authMethods: readonly JsonObject[];
  /** What it says of itself beyond this; absent where it speaks nothing beyond Sessions and Turns. */
  readonly beyond?: EngineBeyond;
}

/** What an Engine says of itself beyond what the Host knows, in ACP's own shape, for the editor's handshake. */
export interface EngineBeyond {
  /** Capabilities, their metadata included. */
  readonly capabilities: JsonObject;
  /** What comes with the handshake, unread. */
  readonly meta?: Meta;
}

/** One MCP server in ACP's own shape. It may hold secrets: kept in memory, only a keyed digest on disk. */
export type McpServer = JsonObject;

/** Which of its own services the Client offers to an Engine. */
export interface ClientServices {
  /** `fs/read_text_file`. */
  readonly readTextFile: boolean;
  /** `fs/write_text_file`. */
  readonly writeTextFile: boolean;
  /** All of `terminal/*`. */
  readonly terminal: boolean;
  /** Forms. */
  readonly forms: boolean;
  /** Sending a person to a URL; not where absent. */
  readonly urls?: boolean;
  /** What it said of itself, for an Engine that passes it on. */
  readonly hello?: ClientHello;
}

/** A Session as lists and lookups show it. Times are milliseconds since the epoch. */
export interface SessionInfo {
  /** Its id. */
  readonly sessionId: string;
  /** Absolute real path of the working directory. */
  readonly cwd: string;
  /** Additional workspace roots, in order, without `cwd`. */
  readonly roots: readonly string[];
  /** The Engine that does its Turns. */
  readonly engineId: string;
  /** Its title, once it has one. */
  readonly title?: string;
  /** When it was created; 0 where that is not known. */
  readonly createdAt: number;
  /** When something last happened in it; 0 where that is not known. */
  readonly updatedAt: number;
  /** Its present settings. */
  readonly config: Config;
  /** Its present commands. */
  readonly commands: readonly Command[];
  /** How full its context window is, once that is known. */
  readonly usage?: Usage;
  /** What came with settings, commands and title as metadata. */
  readonly metas?: SessionMetas;
  /** What its Engine calls it, where that keeps Sessions by itself. */
  readonly keptAs?: string;
}

/** What `sessions.create` needs. `sessionId` is chosen by the caller and matches `[A-Za-z0-9_-]{1,64}`. */
export interface CreateSession {
  /** Chosen by the caller. */
  readonly sessionId: string;
  /** Absolute real path of an existing directory. */
  readonly cwd: string;
  /** Additional workspace roots, absolute real paths. */
  readonly roots: readonly string[];
  /** The complete list of this connection. */
  readonly mcpServers: readonly McpServer[];
  /** The default Engine where absent. */
  readonly engineId?: string;
  /** Wanted values of options; the others take the Engine's defaults. */
  readonly options?: readonly ConfigChange[];
  /** Passed through to the Engine unread. */
  readonly meta?: Meta;
}

/** A page of Sessions. `cursor` is opaque and absent on the last page. */
export interface SessionPage {
  /** Newest first. */
  readonly sessions: readonly SessionInfo[];
  /** Where the next page begins. */
  readonly cursor?: string;
}

/** A change that {@linkcode RuntimeHost.watch} announces. */
export type SessionChange =
  | { readonly type: "changed"; readonly info: SessionInfo }
  | { readonly type: "removed"; readonly sessionId: string };

/** The answer to "was this Turn started?" of a start that reached the Host. */
export type Admission =
  | { readonly kind: "admitted"; readonly run: Run }
  /** The foreground slot is taken by `run`; nothing was started. */
  | { readonly kind: "busy"; readonly run: Run; readonly origin: Origin };

/** What `turns.query` knows of a Turn. */
export type TurnState =
  | { readonly kind: "live"; readonly run: Run; readonly phase: "admitted" | "running" | "waiting" }
  | { readonly kind: "ended"; readonly run: Run; readonly end: RunEnd; readonly through: number }
  /** Never admitted. After `settle` it is a tombstone: it never will be. */
  | { readonly kind: "not_found"; readonly settled: boolean };

/** What a reader wants from the transcript. Sequences: `after` exclusive, `through` inclusive. */
export interface ReadRequest {
  /** Only rows of this Turn. */
  readonly turnId?: string;
  /** The sequence behind which to begin. */
  readonly after: number;
  /** Absent: everything, rows that still grow included. */
  readonly through?: number;
  /** From the page before, with otherwise equal arguments. */
  readonly cursor?: string;
  /** Bound on the bodies of one page in UTF-16 units; at least one fragment is returned. */
  readonly maxLength: number;
  /**
   * Prefixes of bodies that the reader holds. Where the first `length` units of the row's body have this digest, the body
   * starts behind them, and is left out when nothing follows.
   */
  readonly held?: readonly HeldBody[];
}

/** The first `length` UTF-16 units of a row's body, known by their digest. */
export interface HeldBody {
  /** What kind of body it is. */
  readonly kind: "text" | "thinking" | "tool" | "content";
  /** Its `messageId`, `contentId` or `toolCallId`. */
  readonly id: string;
  /** How much of it is held, in UTF-16 units. */
  readonly length: number;
  /** Digest of that much, lower-case hex. */
  readonly sha256: string;
}

/** Rows and fragments in order of sequence and offset. `cursor` is absent on the last page. */
export interface ReadPage {
  /** In order of sequence and offset. */
  readonly rows: readonly Row[];
  /** Where the next page begins. */
  readonly cursor?: string;
}

/**
 * One numbered stream of frames without gaps, with the transcript reader that belongs to it. Owned by whoever opened it;
 * valid until `close` or a `closed` frame, after which `read` is refused with `unavailable`.
 */
export interface Subscription {
  /** The Session at the moment of opening; frame 1 is what happened next. */
  readonly snapshot: Snapshot;
  /**
   * Waits for at least one frame and returns all that are queued. After the `closed` frame it returns no frames. One call at a
   * time. Frames that are not fetched are merged and at last end the Subscription with `slow_consumer`.
   */
  next(): Promise<FrameBatch>;
  /** Reads the transcript. Rows that are not above the watermark stay the same for ever. */
  read(request: ReadRequest): Promise<ReadPage>;
  /** Releases it; a waiting `next` returns. May be called twice. */
  close(): Promise<void>;
}

/** What `turns.start` needs. */
export interface StartTurn {
  /** In which Session. */
  readonly sessionId: string;
  /** Chosen by the caller, never used before. */
  readonly turnId: string;
  /** What the Turn is to work on. */
  readonly input: TurnInput;
}

/** Names an upload; `uploadId` is chosen by the caller and matches `[A-Za-z0-9_-]{1,64}`. */
export interface UploadKey {
  /** The Session that the bytes belong to. */
  readonly sessionId: string;
  /** Chosen by the caller. */
  readonly uploadId: string;
}

/** How an Interaction stands. */
export type InteractionState =
  | { readonly kind: "open" }
  | { readonly kind: "closed"; readonly reason: InteractionEnd; readonly by?: string };

/** Durable Sessions. */
export interface HostSessions {
  /**
   * Creates a Session. **Once.** Durable before the reply. `conflict` where the id exists, `invalid` for an unknown Engine or
   * option. A later `get` tells what became of an unknown outcome.
   */
  create(request: CreateSession): Promise<Reply<SessionInfo>>;
  /**
   * By key. `not_found` where there is none, also with the Engine of new Sessions, where that keeps Sessions by itself; `unavailable`
   * where that does not answer. Does not open the Session: it works while another process holds it.
   */
  get(sessionId: string): Promise<SessionInfo>;
  /**
   * Newest first. `cwd` filters on the real path. `invalid` for a cursor that this Host did not make. Where the Engine of new Sessions
   * keeps Sessions by itself they are in it, once; that one may be started for it, and is waited for `limits.archiveMs` at most.
   */
  list(request: { cwd?: string; cursor?: string; limit?: number }): Promise<SessionPage>;
  /**
   * Frees rows and Artifacts. By key: removing what is not there succeeds. Ends Subscriptions with `removed` and stops Runs first;
   * `busy` where another process holds the Session. What an Engine keeps of it is deleted there if possible, and listed no more.
   */
  remove(sessionId: string): Promise<void>;
  /**
   * Replaces roots and MCP servers by this connection's complete lists. By key. A Session that only the Engine of new ones has is taken
   * over first: from then on it is the Host's, durable, with its past. Takes hold of the Session (`busy` with
   * data.pid where another process has it). `meta` passes through to the Engine unread; where it is absent what came before stays.
   */
  bind(request: {
    sessionId: string;
    roots: readonly string[];
    mcpServers: readonly McpServer[];
    meta?: Meta;
  }): Promise<SessionInfo>;
  /**
   * Changes options, all or none. By key `changeId`. `revision_conflict` (data.revision) unless `expectedRevision` is the
   * present one, `invalid` for unknown options and values. Durable before the reply, then pushed as a `config` frame. `meta`
   * passes through to the Engine unread.
   */
  configure(request: {
    sessionId: string;
    expectedRevision: number;
    changeId: string;
    changes: readonly ConfigChange[];
    meta?: Meta;
  }): Promise<Config>;
  /** Opens one Subscription. Not by key: each call opens another. `services` are what this connection's Client offers. */
  open(sessionId: string, services: ClientServices): Promise<Subscription>;
  /** This connection is done with the Session: calls and presentation end. Runs go on. By key. */
  release(sessionId: string): Promise<void>;
}

/** Turns and their Runs. */
export interface HostTurns {
  /**
   * Starts a Turn in the foreground slot. **Once.** The Turn, its user row and its Artifact pins are durable before the
   * reply. Frames of the Run may arrive before the reply.
   */
  start(request: StartTurn): Promise<Reply<Admission>>;
  /**
   * What became of a Turn. By key. With `settle` a turnId that was not admitted is tombstoned in the Session's own order: a start
   * that is still on its way will be refused with `conflict`.
   */
  query(request: { sessionId: string; turnId: string; settle: boolean }): Promise<TurnState>;
  /** Asks exactly this Run to stop. By key; returns when the Host has taken note, not when the Run has ended. */
  stop(request: { sessionId: string; run: Run }): Promise<void>;
  /** Gives words to a working Run. By key `steerId`. `unavailable` where the Engine does not take any now. */
  steer(request: { sessionId: string; run: Run; steerId: string; input: TurnInput }): Promise<void>;
  /** Makes this connection the presenter of a Run that has none. `conflict` (data.presenter) where one has it. */
  adopt(request: { sessionId: string; run: Run }): Promise<void>;
}

/** Questions to a person. */
export interface HostInteractions {
  /** How it stands; `not_found` for an id that never was. */
  query(request: { sessionId: string; interactionId: string }): Promise<InteractionState>;
  /**
   * Answers. By key: the same answer again succeeds, another one is `already_resolved`. `invalid` for an option or values that
   * the question does not offer; nothing is ever approved by that. Durable, with the Grant it makes, before the reply.
   */
  answer(request: { sessionId: string; interactionId: string; answer: Answer }): Promise<void>;
}

/** Answers to {@linkcode ClientCall}s. Each call is settled or failed once; later ones get `already_resolved`. */
export interface HostCalls {
  /** Gives the result of a call. */
  settle(request: { sessionId: string; callId: string; result: Json }): Promise<void>;
  /** Says that a call failed, with the editor's own code and sentence. */
  fail(request: { sessionId: string; callId: string; code: number; message: string }): Promise<void>;
}

/** Bytes that belong to a Session. All by key, so each may be repeated. */
export interface HostArtifacts {
  /** Begins a provisional upload; `conflict` where the id was used with another name or type. */
  begin(request: UploadKey & { name: string; mimeType: string }): Promise<void>;
  /** Appends at `offset`; bytes below the present size must be the same ones, a gap is `conflict`. `capacity` past the cap. */
  append(request: UploadKey & { offset: number; bytes: Uint8Array }): Promise<void>;
  /** Checks size and digest (`conflict` where they differ) and makes the Artifact durable. Provisional until a Turn pins it. */
  commit(request: UploadKey & { size: number; sha256: string }): Promise<ArtifactReference>;
  /** Drops an upload or a committed Artifact that no Turn used. Silent where there is none. */
  abort(request: UploadKey): Promise<void>;
  /** At most `length` bytes from `offset`; fewer at the end. `not_found` for another Session's Artifact. */
  read(
    request: { sessionId: string; artifactId: string; offset: number; length: number },
  ): Promise<Uint8Array>;
  /** Committed Artifacts of a Session, oldest first. */
  list(sessionId: string): Promise<readonly ArtifactReference[]>;
}

/**
 * What the editor and an Engine say to each other beyond this contract. The Host passes it on unread: about a Session to and from its
 * Engine, and else to and from the one that is named.
 */
export interface HostExtensions {
  /**
   * Introduces this connection's Client and gives what Engines say to it, until the signal aborts. An Engine's request about a Session goes
   * to the connection that presents its foreground Run, else to the one that used it last; one about no Session to the connection
   * that asked or listened last. One listener a connection. What is not fetched is bounded: past it notifications are dropped
   * and requests are refused.
   */
  listen(client: ClientServices, signal: AbortSignal): AsyncIterable<ExtensionEvent>;
  /**
   * Asks an Engine, which is started for that if need be. **Once.** The Engine's own error is an answer, `-32601` included. Aborting the
   * signal tells the Engine that the answer is not wanted any more; it rejects at once then. `unavailable` where the Engine goes
   * away before it answers.
   */
  call(message: ExtensionMessage, signal: AbortSignal): Promise<ExtensionAnswer>;
  /** Tells an Engine. Resolves when it is on its way, whether the Engine knows the method or not. */
  notify(message: ExtensionMessage): Promise<void>;
  /** Answers an Engine's request. `not_found` where nobody waits for it any more, `unauthorized` where another editor was asked. */
  answer(request: { callId: string; answer: ExtensionAnswer }): Promise<void>;
}

/** Lasting permissions. */
export interface HostGrants {
  /** All Grants that are in force. */
  list(sessionId: string): Promise<readonly Grant[]>;
  /** By key. */
  revoke(request: { sessionId: string; grantId: string }): Promise<void>;
}

/**
 * One connection's view of a Host. Calls of one Session take effect in the order in which they were made. All methods but the
 * once operations reject with {@linkcode HostError}.
 */
export interface RuntimeHost {
  /** Names this connection in origins, presenters and answers. */
  readonly connectionId: string;
  /** Static data of an Engine (the default one if unnamed). Starts nothing, does no I/O. Throws `invalid` for an unknown one. */
  describe(engineId?: string): EngineProfile;
  /** Durable Sessions. */
  readonly sessions: HostSessions;
  /** Turns and their Runs. */
  readonly turns: HostTurns;
  /** Questions to a person. */
  readonly interactions: HostInteractions;
  /** Calls to the editor. */
  readonly calls: HostCalls;
  /** Bytes that belong to a Session. */
  readonly artifacts: HostArtifacts;
  /** Lasting permissions. */
  readonly grants: HostGrants;
  /** What goes beyond this contract; absent where the Host passes nothing on. */
  readonly extensions?: HostExtensions;
  /** One feed of changes a connection, for lists, commands and titles. Ends when the signal aborts. */
  watch(signal: AbortSignal): AsyncIterable<SessionChange>;
  /** Ends this connection: its Subscriptions, its presentation, its provisional uploads. May be called twice. */
  close(): Promise<void>;
}
