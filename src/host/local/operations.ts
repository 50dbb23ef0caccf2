import type { Answer, Grant } from "../../model/question.ts";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { Config, ConfigChange, ConfigOption } from "../../model/config.ts";
import type { Json, Meta } from "../../model/json.ts";
import type { SessionMetas } from "../../model/metas.ts";
import type { ExtensionAnswer } from "../../model/extension.ts";
import type { ExtensionInlet } from "../../engine/contract.ts";
import type { Run, RunEnd } from "../../model/run.ts";
import type { TurnInput } from "../../model/prompt.ts";
import type {
  Admission,
  ClientServices,
  InteractionState,
  McpServer,
  SessionInfo,
  Subscription,
  TurnState,
} from "../contract.ts";
import type { HostError } from "../errors.ts";
import type { ActiveRun } from "./active_run.ts";
import type { BackgroundWork } from "./sink.ts";

/** An operation: what it is asked with and what it resolves with. */
interface Operation<Of, Gives = void> {
  readonly of: Of;
  readonly gives: Gives;
}

/** Of a connection. */
type By<T = unknown> = T & { readonly connectionId: string };

/**
 * All that can wake a Session: what connections ask, then what its own Runs, its Engine and its journal report. They take effect one
 * after the other. None waits for an Engine, so an Engine may wait for any of them.
 */
export interface SessionOperations {
  /** The connection keeps the Session that it created. */
  readonly keep: Operation<
    By<{ readonly mcpServers: readonly McpServer[]; readonly meta: Meta | undefined }>,
    SessionInfo
  >;
  /** Asks what the Engine's Session takes beyond the contract. Nobody waits for the Engine in the mailbox. */
  readonly extend: Operation<
    By<{ readonly ask: (inlet: ExtensionInlet | undefined) => Promise<ExtensionAnswer | void> }>,
    { readonly answer: Promise<ExtensionAnswer | void> }
  >;
  readonly bind: Operation<
    By<
      {
        readonly roots: readonly string[];
        readonly mcpServers: readonly McpServer[];
        readonly meta: Meta | undefined;
      }
    >,
    SessionInfo
  >;
  readonly configure: Operation<
    By<
      {
        readonly expectedRevision: number;
        readonly changeId: string;
        readonly changes: readonly ConfigChange[];
        readonly meta: Meta | undefined;
      }
    >,
    Config
  >;
  readonly open: Operation<By<{ readonly services: ClientServices }>, Subscription>;
  readonly release: Operation<By>;
  readonly remove: Operation<unknown>;

  readonly start: Operation<By<{ readonly turnId: string; readonly input: TurnInput }>, Admission>;
  readonly query: Operation<{ readonly turnId: string; readonly settle: boolean }, TurnState>;
  readonly stop: Operation<By<{ readonly run: Run }>>;
  readonly steer: Operation<
    { readonly run: Run; readonly steerId: string; readonly input: TurnInput },
    { readonly taken: Promise<void> }
  >;
  readonly adopt: Operation<By<{ readonly run: Run }>>;

  readonly interaction: Operation<{ readonly interactionId: string }, InteractionState>;
  readonly answer: Operation<By<{ readonly interactionId: string; readonly answer: Answer }>>;
  readonly settleCall: Operation<By<{ readonly callId: string; readonly result: Json }>>;
  readonly failCall: Operation<
    By<{ readonly callId: string; readonly code: number; readonly message: string }>
  >;

  readonly beginUpload: Operation<
    By<{ readonly uploadId: string; readonly name: string; readonly mimeType: string }>
  >;
  readonly appendUpload: Operation<
    { readonly uploadId: string; readonly offset: number; readonly bytes: Uint8Array }
  >;
  readonly commitUpload: Operation<
    { readonly uploadId: string; readonly size: number; readonly sha256: string },
    ArtifactReference
  >;
  readonly abortUpload: Operation<{ readonly uploadId: string }>;
  readonly readArtifact: Operation<
    { readonly artifactId: string; readonly offset: number; readonly length: number },
    Uint8Array
  >;
  readonly artifacts: Operation<unknown, readonly ArtifactReference[]>;
  readonly grants: Operation<unknown, readonly Grant[]>;
  readonly revoke: Operation<{ readonly grantId: string }>;

  readonly runSettled: Operation<{ readonly run: ActiveRun; readonly end: RunEnd }>;
  readonly runOverdue: Operation<{ readonly run: ActiveRun }>;
  readonly runBeside: Operation<{ readonly parent: ActiveRun; readonly work: BackgroundWork }, string>;
  readonly runLate: Operation<{ readonly work: BackgroundWork }, string | undefined>;
  readonly engineOptions: Operation<
    { readonly options: readonly ConfigOption[]; readonly metas?: Pick<SessionMetas, "options" | "mode"> }
  >;
  readonly unsaved: Operation<{ readonly error: HostError }>;
  /** The Host goes away. */
  readonly drain: Operation<unknown>;
}

/** The name of an operation. */
export type OperationName = keyof SessionOperations;
/** What an operation is asked with. */
export type OperationOf<N extends OperationName> = SessionOperations[N]["of"];
/** What an operation resolves with. */
export type OperationGives<N extends OperationName> = SessionOperations[N]["gives"];

/** One place that handles each of them. */
export type OperationHandlers = {
  readonly [N in OperationName]: (of: OperationOf<N>) => OperationGives<N> | Promise<OperationGives<N>>;
};
