import { agent, type Implementation } from "@agentclientprotocol/sdk";
import type { Clock, Ids } from "../model/clock.ts";
import { ClientGone, type Files } from "../session/ports.ts";
import type { ConnectionSessions } from "./sessions.ts";
import type { SessionParts } from "../session/session.ts";
import { Client } from "./client.ts";
import type { EditorExtensions } from "./extensions.ts";
import { GANGWAY, negotiate, OFFERED } from "./negotiation.ts";
import { LIMITS } from "../limits.ts";
import { LineSplitter } from "../wire/lines.ts";
import { LineWriter } from "./writer.ts";
import type { Log } from "../model/log.ts";
import { Mailbox } from "./mailbox.ts";
import type { Methods } from "./methods.ts";
import type { RuntimeHost } from "../host/contract.ts";

/** What {@linkcode serve} needs. */
export interface ServeOptions {
  /** The Client's bytes; read to its end or until the connection is over, then released. */
  readonly input: ReadableStream<Uint8Array>;
  /** Bytes to the Client; closed at the end. */
  readonly output: WritableStream<Uint8Array>;
  /** This connection's view of a Host. It is closed at the end of the connection, as far as that works in time. */
  readonly host: RuntimeHost;
  /** The one door to the disk. */
  readonly files: Files;
  /** Time. */
  readonly clock: Clock;
  /** Where new ids come from. */
  readonly ids: Ids;
  /** Where diagnostics go. */
  readonly log: Log;
  /** Ends the connection as the end of input does. */
  readonly signal?: AbortSignal;
  /** How the agent names itself in the handshake; Gangway unless said otherwise. */
  readonly info?: Implementation;
  /** Makes the connection's Sessions, after the handshake; those of `session/` unless said otherwise. */
  readonly sessions?: (parts: SessionParts) => ConnectionSessions;
}

/** Bytes of unread answers, in high waters, above which no further input is read. */
const UNREAD = 4;
/** Milliseconds after the drain in which Sessions are released and the last lines leave. */
const CLOSE_MS = 200;

/**
 * Serves one Client over a pair of byte streams. Resolves when the connection is over: at the end of input, by the signal, or when
 * the Client stopped reading. Requests at hand get {@linkcode LIMITS.drainMs}, then everything is released without waiting
 * for the Host.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { clock, files, host, ids, log } = options;
  const profile = host.describe();
  const writer = new LineWriter(options.output, LIMITS.writerHighWater);
  const client = new Client(writer, log);
  let sessions: ConnectionSessions | undefined;
  let extensions: EditorExtensions | undefined;
  let methods: Methods | undefined;

  const mailbox = new Mailbox({
    writer,
    settle: (id, outcome) => client.settle(id, outcome),
    // What the handshake does without is loaded behind it, so that a Client sees its answer sooner.
    ready: async () => {
      const [loaded, make, beyond] = await Promise.all([
        import("./methods.ts"),
        options.sessions ?? ownSessions(),
        import("./extensions.ts"),
      ]);
      sessions = make({ host, client, files, clock, ids, log });
      const speaks = profile.beyond !== undefined;
      extensions = host.extensions &&
        new beyond.EditorExtensions({ host: host.extensions, sessions, client, speaks, log });
      methods = new loaded.Methods({
        sessions,
        client,
        profile,
        ...(extensions !== undefined && { extensions }),
        offered: OFFERED,
        clock,
        log,
        after: (result, follow) => mailbox.after(result, follow),
      });
    },
  });

  const connection = agent()
    .onRequest("*", ({ method, params, signal }) => {
      mailbox.begun();
      if (method === "initialize") {
        const { response, abilities } = negotiate(params, profile, options.info ?? GANGWAY);
        client.abilities = abilities;
        return response;
      }
      return methods!.request(method, params, signal);
    })
    .onNotification("*", ({ method, params }) => {
      mailbox.begun();
      methods!.notify(method, params);
    })
    .connect(mailbox.stream);

  try {
    await feed(options, mailbox, writer);
    await within(clock, LIMITS.drainMs, Promise.race([mailbox.idle(), writer.gone]));
  } finally {
    mailbox.seal();
    extensions?.close();
    const released = sessions?.shutdown().catch(() => log.error("The Sessions could not be released"));
    await within(clock, CLOSE_MS, Promise.all([released, writer.close()]));
    writer.abort();
    mailbox.close();
    await connection.closed;
  }
}

async function ownSessions(): Promise<(parts: SessionParts) => ConnectionSessions> {
  const { Sessions } = await import("../session/mod.ts");
  return (parts) => new Sessions(parts);
}

/** Reads lines into the mailbox until the input, the signal or the Client ends it. */
async function feed(
  { input, log, signal }: ServeOptions,
  mailbox: Mailbox,
  writer: LineWriter,
): Promise<void> {
  const reader = input.getReader();
  const stopped = Promise.withResolvers<void>();
  const stop = () => {
    stopped.resolve();
    reader.cancel().catch(() => {});
  };
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  writer.gone.then(stop);
  const next = () =>
    reader.read().catch(() => {
      log.warn("The input broke off");
      return { done: true, value: undefined } as const;
    });
  try {
    const lines = new LineSplitter(LIMITS.inputLineBytes);
    for (let read = await next(); !read.done;) {
      for (const line of lines.push(read.value)) await mailbox.take(line);
      const coming = next();
      if (writer.backlog > UNREAD * LIMITS.writerHighWater) {
        // A Client that does not read is read from no further, unless it is to end the connection.
        const held = coming.then(({ done }) => done ? undefined : writer.room());
        await Promise.race([writer.room(), stopped.promise, held]);
      }
      read = await coming;
    }
    const last = lines.end();
    if (last !== undefined) await mailbox.take(last);
  } catch (error) {
    if (!(error instanceof ClientGone)) throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
    reader.releaseLock();
  }
}

/** Waits for `work`, at most `ms`. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, clock.sleep(ms, over.signal).catch(() => {})]);
  over.abort("over");
}
