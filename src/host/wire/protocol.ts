import { z } from "zod";
import type { EngineProfile } from "../contract.ts";
import { type Dispatch, HostError, type HostErrorCode } from "../errors.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { ClientInfo, HostInfo } from "./info.ts";
import { ProtocolError } from "./link.ts";
import { faultOf, isObject, type Shape, shape, variants } from "./shape.ts";
import * as v from "./values.ts";

/** A range of versions, both ends included. */
export interface VersionRange {
  /** The oldest. */
  readonly from: number;
  /** The newest. */
  readonly to: number;
}

/** The versions that this program speaks. */
export const VERSIONS: VersionRange = { from: 1, to: 1 };

/**
 * What both sides have to name for it to be used: `resume` of lost connections, `watch` over lists, `extensions` between editors and
 * Engines.
 */
export const FEATURES: readonly string[] = ["resume", "watch", "extensions"];

/** A stream as a client that comes back has it: everything through item `have`. */
export interface HeldStream {
  readonly stream: number;
  readonly have: number;
}

/** The first line of a client. */
export interface Hello {
  readonly type: "hello";
  readonly versions: VersionRange;
  readonly features: readonly string[];
  /** `id` names it to others, `key` is known to it alone, `attempt` rises with every stream that it opens. */
  readonly connection: { readonly id: string; readonly key: string; readonly attempt: number };
  /** Which Host it was connected to, and what it holds of it. */
  readonly resume?: { readonly instance: string; readonly streams: readonly HeldStream[] };
  readonly client: ClientInfo;
}

/** Limits that a client has to keep, as the Host has them. */
export interface ToldLimits {
  readonly lineBytes: number;
  readonly requests: number;
  readonly windowLength: number;
  readonly partBytes: number;
  readonly graceMs: number;
}

/** The answer to a hello. */
export interface Welcome {
  readonly type: "welcome";
  readonly version: number;
  readonly features: readonly string[];
  /** Names this Host process. */
  readonly instance: string;
  /** Whether the Host still has what the connection held. */
  readonly resumed: boolean;
  /** Streams that go on; the others of the client are over. */
  readonly streams: readonly number[];
  readonly host: HostInfo;
  readonly engines: readonly EngineProfile[];
  /** The Engine of Sessions that name none. */
  readonly defaultEngine: string;
  readonly limits: ToldLimits;
}

/** Why a hello is refused. `stale`, `draining` and `capacity` may be tried again. */
export type RefusalReason = "version" | "stale" | "unauthorized" | "malformed" | "capacity" | "draining";

/** The other answer to a hello. The stream is over after it. */
export interface Refusal {
  readonly type: "refused";
  readonly reason: RefusalReason;
  readonly message: string;
  readonly versions: VersionRange;
}

/** A failure as it crosses the wire. */
export interface WireError {
  readonly code: HostErrorCode;
  readonly dispatch: Dispatch;
  readonly message: string;
  readonly data: JsonObject;
}

/** What a client sends after its hello. */
export type ClientMessage =
  | { readonly type: "ask"; readonly id: number; readonly op: string; readonly of: Json }
  /** The answer is not wanted any more. */
  | { readonly type: "drop"; readonly id: number }
  /** The consumer took the items of a stream through this one. */
  | { readonly type: "ack"; readonly stream: number; readonly through: number }
  | { readonly type: "ping" | "pong" | "bye" };

/** What a Host sends after its welcome. */
export type HostMessage =
  | { readonly type: "reply"; readonly id: number; readonly value: Json }
  | { readonly type: "reply"; readonly id: number; readonly error: WireError }
  /** Items of a stream, numbered from 1 without a gap. */
  | {
    readonly type: "items";
    readonly stream: number;
    readonly first: number;
    readonly items: readonly Json[];
  }
  /** No more of this stream can be sent. */
  | { readonly type: "lost"; readonly stream: number }
  /** Something was received that could not be answered. */
  | { readonly type: "fault"; readonly message: string }
  | { readonly type: "ping" | "pong" | "bye" };

const id = z.int().min(1);
const range = shape<VersionRange>({ from: id, to: id });
const details = { details: v.object.optional() };

const hello: Shape<Hello> = shape<Hello>({
  type: z.literal("hello"),
  versions: range,
  features: v.list(v.text),
  connection: shape({
    id: v.text.refine((text) => text.length > 0 && text.length <= 64),
    key: v.text,
    attempt: id,
  }),
  resume: shape({ instance: v.text, streams: v.list(shape({ stream: v.whole, have: v.whole })) }).optional(),
  client: shape({ name: v.text, version: v.text, ...details }),
});

const answer = variants<Welcome | Refusal>("type", {
  welcome: {
    version: id,
    features: v.list(v.text),
    instance: v.text,
    resumed: v.flag,
    streams: v.list(v.whole),
    host: shape({ version: v.text, pid: v.count.optional(), ...details }),
    engines: v.list(v.engineProfile),
    defaultEngine: v.text,
    limits: shape<ToldLimits>({
      lineBytes: id,
      requests: id,
      windowLength: id,
      partBytes: id,
      graceMs: v.count,
    }),
  },
  refused: { reason: v.text, message: v.text, versions: range },
});

const clientMessage = variants<ClientMessage>("type", {
  ask: { id, op: v.text, of: v.json },
  drop: { id },
  ack: { stream: v.whole, through: v.whole },
  ping: {},
  pong: {},
  bye: {},
});

const wireError = shape<WireError>({
  code: v.text,
  dispatch: z.enum(["answered", "not_sent", "unknown"]),
  message: v.text,
  data: v.object,
});

const hostMessage = variants<HostMessage>("type", {
  reply: { id, error: wireError.optional() },
  items: { stream: v.whole, first: id, items: v.list(v.json) },
  lost: { stream: v.whole },
  fault: { message: v.text },
  ping: {},
  pong: {},
  bye: {},
});

/** Reads a client's first line. Throws {@linkcode ProtocolError}. */
export function readHello(line: string): Hello {
  return expect(hello, read(line));
}

/** Reads the answer to a hello. Throws {@linkcode ProtocolError}. */
export function readAnswer(line: string): Welcome | Refusal {
  return expect(answer, read(line));
}

/** What a line of a client turned out to be. */
export type ReadMessage =
  | { readonly message: ClientMessage }
  /** It is none; `id` is there where it can be answered. */
  | { readonly fault: string; readonly id?: number };

/** Reads a client's further line. */
export function readClientMessage(line: string): ReadMessage {
  let value: Json;
  try {
    value = read(line);
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  const parsed = clientMessage.safeParse(value);
  if (parsed.success) return { message: parsed.data };
  return { fault: faultOf(clientMessage, value) ?? "", id: idOf(value) };
}

/** Reads a Host's further line; undefined for a type that this side does not know. Throws {@linkcode ProtocolError}. */
export function readHostMessage(line: string): HostMessage | undefined {
  const value = read(line);
  // Items are looked at one by one where they are taken.
  if (isItems(value)) return value;
  if (isObject(value) && typeof value.type === "string" && !KNOWN.has(value.type)) return undefined;
  return expect(hostMessage, value);
}

const KNOWN: ReadonlySet<string> = new Set(["reply", "items", "lost", "fault", "ping", "pong", "bye"]);

function isItems(value: Json): value is Extract<HostMessage, { type: "items" }> {
  return isObject(value) && value.type === "items" && Number.isSafeInteger(value.stream) &&
    Number.isSafeInteger(value.first) && Number(value.first) >= 1 && Array.isArray(value.items);
}

/** The id of a message that is otherwise malformed. */
function idOf(value: Json): number | undefined {
  return isObject(value) && Number.isSafeInteger(value.id) && Number(value.id) >= 1
    ? Number(value.id)
    : undefined;
}

/** The id in the beginning of a line that was too long. */
export function idInHead(head: string): number | undefined {
  const found = /"id"\s*:\s*(\d{1,15})\s*[,}]/.exec(head)?.[1];
  return found === undefined ? undefined : Number(found);
}

function read(line: string): Json {
  try {
    return JSON.parse(line);
  } catch {
    throw new ProtocolError("a line is not JSON");
  }
}

function expect<T>(fits: Shape<T>, value: Json): T {
  const parsed = fits.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ProtocolError(`a line is not what it should be: ${faultOf(fits, value)}`);
}

/** The newest version that both speak; undefined where there is none. */
export function versionOf(a: VersionRange, b: VersionRange): number | undefined {
  const newest = Math.min(a.to, b.to);
  return newest >= Math.max(a.from, b.from) ? newest : undefined;
}

/** A range for people. */
export function rangeText({ from, to }: VersionRange): string {
  return from === to ? `version ${from}` : `versions ${from} to ${to}`;
}

/** A failure for the wire. What is no {@linkcode HostError} is a fault of the Host, and says nothing of itself. */
export function wireErrorOf(error: unknown): WireError {
  const { code, dispatch, message, data } = error instanceof HostError
    ? error
    : new HostError("internal", "The Host failed without saying why", { dispatch: "unknown" });
  return { code, dispatch, message, data };
}

/** A failure from the wire. */
export function hostErrorOf({ code, dispatch, message, data }: WireError): HostError {
  return new HostError(code, message, { dispatch, data });
}
