import type { HostExtensions, RuntimeHost } from "../contract.ts";
import type { Reply } from "../errors.ts";
import { HostError } from "../errors.ts";
import type { WireLimits } from "./limits.ts";
import type { ServedStreams } from "./served_streams.ts";
import type { OperationGives, OperationName, OperationOf } from "./operations.ts";

/** What a handler works with besides what it is asked. */
export interface HandlerContext {
  readonly host: RuntimeHost;
  /** Streams of the connection. */
  readonly streams: ServedStreams;
  readonly limits: WireLimits;
  /** Aborts when the answer is not wanted any more. */
  readonly signal: AbortSignal;
}

/** One place that handles each of them. */
export const HANDLERS: {
  readonly [N in OperationName]: (of: OperationOf<N>, to: HandlerContext) => Promise<OperationGives<N>>;
} = {
  "sessions.create": async (of, { host }) => valueOf(await host.sessions.create(of)),
  "sessions.get": ({ sessionId }, { host }) => host.sessions.get(sessionId),
  "sessions.list": (of, { host }) => host.sessions.list(of),
  "sessions.remove": ({ sessionId }, { host }) => host.sessions.remove(sessionId).then(nothing),
  "sessions.bind": (of, { host }) => host.sessions.bind(of),
  "sessions.configure": (of, { host }) => host.sessions.configure(of),
  "sessions.open": (of, { streams }) => streams.open(of),
  "sessions.release": ({ sessionId }, { host }) => host.sessions.release(sessionId).then(nothing),
  "turns.start": async (of, { host }) => valueOf(await host.turns.start(of)),
  "turns.query": (of, { host }) => host.turns.query(of),
  "turns.stop": (of, { host }) => host.turns.stop(of).then(nothing),
  "turns.steer": (of, { host }) => host.turns.steer(of).then(nothing),
  "turns.adopt": (of, { host }) => host.turns.adopt(of).then(nothing),
  "interactions.query": (of, { host }) => host.interactions.query(of),
  "interactions.answer": (of, { host }) => host.interactions.answer(of).then(nothing),
  "calls.settle": (of, { host }) => host.calls.settle(of).then(nothing),
  "calls.fail": (of, { host }) => host.calls.fail(of).then(nothing),
  "artifacts.begin": (of, { host }) => host.artifacts.begin(of).then(nothing),
  "artifacts.append": ({ bytes, ...of }, { host }) =>
    host.artifacts.append({ ...of, bytes: Uint8Array.fromBase64(bytes) }).then(nothing),
  "artifacts.commit": (of, { host }) => host.artifacts.commit(of),
  "artifacts.abort": (of, { host }) => host.artifacts.abort(of).then(nothing),
  "artifacts.read": async (of, { host, limits }) => {
    const bytes = await host.artifacts.read({ ...of, length: Math.min(of.length, limits.partBytes) });
    return { bytes: bytes.toBase64() };
  },
  "artifacts.list": ({ sessionId }, { host }) => host.artifacts.list(sessionId),
  "grants.list": ({ sessionId }, { host }) => host.grants.list(sessionId),
  "grants.revoke": (of, { host }) => host.grants.revoke(of).then(nothing),
  "streams.read": (of, { streams }) => streams.read(of),
  "streams.close": (of, { streams }) => {
    streams.close(of);
    return Promise.resolve(null);
  },
  "watch": ({ stream }, { streams }) => streams.watch(stream).then(nothing),
  "extensions.listen": (of, { streams }) => streams.listen(of).then(nothing),
  "extensions.call": (of, { host, signal }) => extensionsOf(host).call(of, signal),
  "extensions.notify": (of, { host }) => extensionsOf(host).notify(of).then(nothing),
  "extensions.answer": (of, { host }) => extensionsOf(host).answer(of).then(nothing),
};

/** What goes beyond the contract. */
export function extensionsOf(host: RuntimeHost): HostExtensions {
  if (host.extensions !== undefined) return host.extensions;
  throw new HostError("invalid", "This Host passes nothing on beyond its contract");
}

function valueOf<T>(reply: Reply<T>): T {
  if (reply.kind === "done") return reply.value;
  throw reply.error;
}

function nothing(): null {
  return null;
}
