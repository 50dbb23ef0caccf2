import { answerOf, encodeWish, type HostStatus, type Wish, type WishAnswer } from "./status.ts";
import { dialSocket } from "../../host/wire/transport/socket.ts";
import { type Endpoint, readEndpoint } from "../../host/wire/transport/endpoint.ts";
import { HostError } from "../../host/errors.ts";
import { readFirstLine, Silence, writeLine } from "./first_line.ts";
import { Rendezvous } from "../../host/wire/transport/rendezvous.ts";
import type { WireStream } from "../../host/wire/stream.ts";

/** Milliseconds for a Host's answer. */
const ANSWER_MS = 5000;
/** Bytes of a Host's answer. */
const ANSWER_BYTES = 4 * 1024 * 1024;

/** A Host that answered. The stream belongs to the caller. */
export interface Reached {
  readonly status: HostStatus;
  readonly stream: WireStream;
}

/** Whom a terminal or an editor calls: the Host of a state folder, or the one behind a socket. */
export type Address =
  | { readonly kind: "state"; readonly folder: string }
  | { readonly kind: "socket"; readonly path: string };

/** A Host said no. */
export class WishRefused extends HostError {
  /** Why. */
  readonly reason: (WishAnswer & { ok: false })["reason"];

  /** Keeps the Host's sentence. */
  constructor({ reason, message }: WishAnswer & { ok: false }) {
    super("unavailable", message, { dispatch: "not_sent" });
    this.reason = reason;
  }
}

/** A Host is there and does not answer: its process stands still, or the machine has no time for it. */
export class HostSilent extends HostError {
  /** Says what to do. */
  constructor() {
    super("unavailable", "The Host does not answer: try again, or end its process", { dispatch: "not_sent" });
  }
}

/**
 * Calls a Host and tells it what for. Undefined where none answers. Rejects with {@linkcode WishRefused} where it says no, with
 * {@linkcode HostSilent} where it says nothing in time, and with `unauthorized` where whoever answers could be somebody else's.
 */
export async function call(address: Address, wish: Wish, signal: AbortSignal): Promise<Reached | undefined> {
  const stream = await dial(address, signal);
  if (stream === undefined) return undefined;
  const stop = () => stream.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await writeLine(stream, encodeWish(wish));
    const opened = await readFirstLine(stream, ANSWER_MS, ANSWER_BYTES);
    const answer = answerOf(opened.said);
    if (answer === undefined) {
      throw new HostError("unavailable", "What answers here is no Host of Gangway", { dispatch: "not_sent" });
    }
    if (!answer.ok) throw new WishRefused(answer);
    return { status: answer.status, stream: opened.stream };
  } catch (error) {
    stream.close();
    signal.throwIfAborted();
    if (error instanceof HostError) throw error;
    if (error instanceof Silence) throw new HostSilent();
    // It hung up: it ended in this moment.
    return undefined;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** A Host's status; undefined where none answers. */
export async function statusOf(address: Address, signal: AbortSignal): Promise<HostStatus | undefined> {
  const reached = await call(address, { want: "status" }, signal);
  reached?.stream.close();
  return reached?.status;
}

async function dial(address: Address, signal: AbortSignal): Promise<WireStream | undefined> {
  try {
    if (address.kind === "socket") return await dialSocket(address.path, signal);
    const place = new Rendezvous(address.folder);
    const endpoint = readEndpoint(place);
    return endpoint === undefined ? undefined : await dialEndpoint(place, endpoint, signal);
  } catch (error) {
    if (isNobody(error)) return undefined;
    if (error instanceof Deno.errors.NotCapable) throw missingPermission(error);
    if (error instanceof Deno.errors.PermissionDenied) throw notOurs(address, error);
    throw error;
  }
}

async function dialEndpoint(
  place: Rendezvous,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<WireStream> {
  if (endpoint.transport === "socket") return await dialSocket(endpoint.path, signal);
  // Loaded only where there are no sockets.
  const { dialWeb } = await import("../../host/wire/transport/web.ts");
  return await dialWeb(place, endpoint.port, signal);
}

/** What the system says where nobody listens. */
const NOBODY = [
  Deno.errors.NotFound,
  Deno.errors.NotADirectory,
  Deno.errors.ConnectionRefused,
  Deno.errors.ConnectionReset,
  Deno.errors.BrokenPipe,
];

function isNobody(error: unknown): boolean {
  return NOBODY.some((kind) => error instanceof kind) ||
    error instanceof HostError && error.code === "unavailable";
}

function notOurs(address: Address, cause: Error): HostError {
  const message = address.kind === "state"
    ? `This user may not use the state folder "${address.folder}": choose another with --state`
    : `This user may not use the socket "${address.path}": choose another with --host`;
  return new HostError("unavailable", message, { dispatch: "not_sent", cause });
}

function missingPermission(error: Deno.errors.NotCapable): HostError {
  const flag = /--allow-[a-z]+/.exec(error.message)?.[0] ?? "--allow-net";
  return new HostError(
    "unavailable",
    `A Host in a process of its own cannot be reached: start Gangway with ${flag}`,
    {
      dispatch: "not_sent",
      cause: error,
    },
  );
}
