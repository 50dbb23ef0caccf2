import { z } from "zod";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { Config, ConfigChange } from "../../model/config.ts";
import type { Answer, Grant } from "../../model/question.ts";
import type { ExtensionAnswer, ExtensionMessage } from "../../model/extension.ts";
import type { Json, Meta } from "../../model/json.ts";
import type { Run } from "../../model/run.ts";
import type { Snapshot } from "../../model/frame.ts";
import type { TurnInput } from "../../model/prompt.ts";
import type {
  Admission,
  ClientServices,
  CreateSession,
  InteractionState,
  McpServer,
  ReadPage,
  ReadRequest,
  SessionInfo,
  SessionPage,
  StartTurn,
  TurnState,
  UploadKey,
} from "../contract.ts";
import { row, snapshot } from "./frames.ts";
import { type Shape, shape, variants } from "./shape.ts";
import * as v from "./values.ts";

/** An operation: what it is asked with and what it is answered with. */
interface Operation<Of, Gives = null> {
  readonly of: Of;
  readonly gives: Gives;
}

/** Names a Session. */
type Named = { readonly sessionId: string };

/** All that a client may ask for. Bytes are base64; `stream` is a number that the client chooses and never uses again. */
export interface WireOperations {
  readonly "sessions.create": Operation<CreateSession, SessionInfo>;
  readonly "sessions.get": Operation<Named, SessionInfo>;
  readonly "sessions.list": Operation<{ cwd?: string; cursor?: string; limit?: number }, SessionPage>;
  readonly "sessions.remove": Operation<Named>;
  readonly "sessions.bind": Operation<
    Named & { roots: readonly string[]; mcpServers: readonly McpServer[]; meta?: Meta },
    SessionInfo
  >;
  readonly "sessions.configure": Operation<
    Named & { expectedRevision: number; changeId: string; changes: readonly ConfigChange[]; meta?: Meta },
    Config
  >;
  readonly "sessions.open": Operation<
    Named & { stream: number; services: ClientServices },
    { snapshot: Snapshot }
  >;
  readonly "sessions.release": Operation<Named>;
  readonly "turns.start": Operation<StartTurn, Admission>;
  readonly "turns.query": Operation<Named & { turnId: string; settle: boolean }, TurnState>;
  readonly "turns.stop": Operation<Named & { run: Run }>;
  readonly "turns.steer": Operation<Named & { run: Run; steerId: string; input: TurnInput }>;
  readonly "turns.adopt": Operation<Named & { run: Run }>;
  readonly "interactions.query": Operation<Named & { interactionId: string }, InteractionState>;
  readonly "interactions.answer": Operation<Named & { interactionId: string; answer: Answer }>;
  readonly "calls.settle": Operation<Named & { callId: string; result: Json }>;
  readonly "calls.fail": Operation<Named & { callId: string; code: number; message: string }>;
  readonly "artifacts.begin": Operation<UploadKey & { name: string; mimeType: string }>;
  readonly "artifacts.append": Operation<UploadKey & { offset: number; bytes: string }>;
  readonly "artifacts.commit": Operation<UploadKey & { size: number; sha256: string }, ArtifactReference>;
  readonly "artifacts.abort": Operation<UploadKey>;
  readonly "artifacts.read": Operation<
    Named & { artifactId: string; offset: number; length: number },
    { bytes: string }
  >;
  readonly "artifacts.list": Operation<Named, readonly ArtifactReference[]>;
  readonly "grants.list": Operation<Named, readonly Grant[]>;
  readonly "grants.revoke": Operation<Named & { grantId: string }>;
  readonly "streams.read": Operation<{ stream: number; request: ReadRequest }, ReadPage>;
  /** `through` is the last item that the consumer took: calls behind it are told to be lost. */
  readonly "streams.close": Operation<{ stream: number; through: number }>;
  readonly "watch": Operation<{ stream: number }>;
  readonly "extensions.listen": Operation<{ stream: number; services: ClientServices }>;
  readonly "extensions.call": Operation<ExtensionMessage, ExtensionAnswer>;
  readonly "extensions.notify": Operation<ExtensionMessage>;
  readonly "extensions.answer": Operation<{ callId: string; answer: ExtensionAnswer }>;
}

/** The name of an operation. */
export type OperationName = keyof WireOperations;
/** What an operation is asked with. */
export type OperationOf<N extends OperationName> = WireOperations[N]["of"];
/** What an operation is answered with. */
export type OperationGives<N extends OperationName> = WireOperations[N]["gives"];

/** The shapes of an operation. */
export interface OperationShapes<N extends OperationName> {
  /** What it is asked with. */
  readonly of: Shape<OperationOf<N>>;
  /** What it is answered with. */
  readonly gives: Shape<OperationGives<N>>;
}

const { text, whole, flag, list, run } = v;
const sessionId = text;
const nothing = z.null();
const upload = { sessionId, uploadId: text };
const stream = whole;

/** What each operation is asked and answered with. */
export const OPERATIONS: { readonly [N in OperationName]: OperationShapes<N> } = {
  "sessions.create": {
    of: shape({
      sessionId,
      cwd: text,
      roots: list(text),
      mcpServers: list(v.mcpServer),
      engineId: text.optional(),
      options: list(v.configChange).optional(),
      meta: v.meta,
    }),
    gives: v.sessionInfo,
  },
  "sessions.get": { of: shape({ sessionId }), gives: v.sessionInfo },
  "sessions.list": {
    of: shape({ cwd: text.optional(), cursor: text.optional(), limit: v.count.optional() }),
    gives: shape({ sessions: list(v.sessionInfo), cursor: text.optional() }),
  },
  "sessions.remove": { of: shape({ sessionId }), gives: nothing },
  "sessions.bind": {
    of: shape({ sessionId, roots: list(text), mcpServers: list(v.mcpServer), meta: v.meta }),
    gives: v.sessionInfo,
  },
  "sessions.configure": {
    of: shape({
      sessionId,
      expectedRevision: whole,
      changeId: text,
      changes: list(v.configChange),
      meta: v.meta,
    }),
    gives: v.config,
  },
  "sessions.open": {
    of: shape({ sessionId, stream, services: v.services }),
    gives: shape({ snapshot }),
  },
  "sessions.release": { of: shape({ sessionId }), gives: nothing },
  "turns.start": {
    of: shape({ sessionId, turnId: text, input: v.turnInput }),
    gives: variants("kind", { admitted: { run }, busy: { run, origin: v.origin } }),
  },
  "turns.query": {
    of: shape({ sessionId, turnId: text, settle: flag }),
    gives: variants("kind", {
      live: { run, phase: v.phase },
      ended: { run, end: v.runEnd, through: whole },
      not_found: { settled: flag },
    }),
  },
  "turns.stop": { of: shape({ sessionId, run }), gives: nothing },
  "turns.steer": { of: shape({ sessionId, run, steerId: text, input: v.turnInput }), gives: nothing },
  "turns.adopt": { of: shape({ sessionId, run }), gives: nothing },
  "interactions.query": {
    of: shape({ sessionId, interactionId: text }),
    gives: variants("kind", { open: {}, closed: { reason: text, by: text.optional() } }),
  },
  "interactions.answer": { of: shape({ sessionId, interactionId: text, answer: v.answer }), gives: nothing },
  "calls.settle": { of: shape({ sessionId, callId: text, result: v.json }), gives: nothing },
  "calls.fail": {
    of: shape({ sessionId, callId: text, code: z.number(), message: text }),
    gives: nothing,
  },
  "artifacts.begin": { of: shape({ ...upload, name: text, mimeType: text }), gives: nothing },
  "artifacts.append": { of: shape({ ...upload, offset: v.number, bytes: z.base64() }), gives: nothing },
  "artifacts.commit": { of: shape({ ...upload, size: whole, sha256: text }), gives: v.artifact },
  "artifacts.abort": { of: shape(upload), gives: nothing },
  "artifacts.read": {
    of: shape({ sessionId, artifactId: text, offset: v.number, length: v.number }),
    gives: shape({ bytes: z.base64() }),
  },
  "artifacts.list": { of: shape({ sessionId }), gives: list(v.artifact) },
  "grants.list": { of: shape({ sessionId }), gives: list(v.grant) },
  "grants.revoke": { of: shape({ sessionId, grantId: text }), gives: nothing },
  "streams.read": {
    of: shape({
      stream,
      request: shape({
        turnId: text.optional(),
        after: whole,
        through: whole.optional(),
        cursor: text.optional(),
        maxLength: v.count,
        held: list(shape({ kind: text, id: text, length: whole, sha256: text })).optional(),
      }),
    }),
    gives: shape({ rows: list(row), cursor: text.optional() }),
  },
  "streams.close": { of: shape({ stream, through: whole }), gives: nothing },
  "watch": { of: shape({ stream }), gives: nothing },
  "extensions.listen": { of: shape({ stream, services: v.services }), gives: nothing },
  "extensions.call": { of: v.extensionMessage, gives: v.extensionAnswer },
  "extensions.notify": { of: v.extensionMessage, gives: nothing },
  "extensions.answer": { of: shape({ callId: text, answer: v.extensionAnswer }), gives: nothing },
};

/** Operations that are sent once and never again. */
export const ONCE: ReadonlySet<OperationName> = new Set([
  "sessions.create",
  "turns.start",
  "extensions.call",
  "extensions.notify",
]);

/** Operations that may have to wait for an agent, which keeps a Session by itself: for `agentMs` and not for `requestMs`. */
export const PATIENT: ReadonlySet<OperationName> = new Set([
  "sessions.get",
  "sessions.bind",
  "sessions.remove",
]);

/** The feature that an operation belongs to; undefined for those that every Host has. */
export function featureOf(op: OperationName): string | undefined {
  if (op === "watch") return "watch";
  return op.startsWith("extensions.") ? "extensions" : undefined;
}

/** Whether there is an operation of that name. */
export function isOperation(name: unknown): name is OperationName {
  return typeof name === "string" && Object.hasOwn(OPERATIONS, name);
}
