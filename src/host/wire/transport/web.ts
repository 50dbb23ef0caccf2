import { HostError } from "../../errors.ts";
import type { WireStream } from "../stream.ts";
import { writePrivate } from "./endpoint.ts";
import type { Listener } from "./listener.ts";
import { checkOwn, ownerIn } from "./own_place.ts";
import { type Challenge, freshNonce, isNonce, Secret, type Side } from "./proof.ts";
import type { Rendezvous } from "./rendezvous.ts";
import { WebPipe } from "./web_pipe.ts";

/** Nothing but this machine reaches it. */
const LOOPBACK = "127.0.0.1";
const PATH = "/gangway";
const PROTOCOL = "gangway";
/** Milliseconds that a stranger has to prove that he is none. */
const HANDSHAKE_MS = 5000;
/** Strangers at a time. */
const STRANGERS = 32;

/**
 * Listens on loopback, for systems without sockets that have owners. A page of a browser is refused by its Origin, everybody else who
 * does not know the secret by the handshake. The secret is new each time.
 */
export function listenOnWeb(place: Rendezvous): Listener {
  const text = freshNonce();
  writePrivate(place.secret, text);
  const secret = new Secret(text);
  const queue = new Arrivals();
  let strangers = 0;
  const server = Deno.serve({ hostname: LOOPBACK, port: 0, onListen() {} }, (request) => {
    const { port } = server.addr;
    const refused = refusalOf(request, port);
    if (refused !== undefined) return refused;
    if (strangers >= STRANGERS) return new Response("Too many at once\n", { status: 503 });
    const { socket, response } = Deno.upgradeWebSocket(request, { protocol: PROTOCOL });
    const pipe = new WebPipe(socket);
    strangers++;
    admit(pipe, secret, port)
      .then((stream) => queue.put(stream), () => pipe.refuse())
      .finally(() => strangers--);
    return response;
  });
  return {
    endpoint: { transport: "web", port: server.addr.port },
    connections: queue,
    close: () => {
      queue.end();
      return server.shutdown();
    },
  };
}

/**
 * Connects with the Host behind a port. Rejects with `unauthorized` where whoever holds the port does not prove that it knows the
 * secret, which is then not told to it either.
 */
export async function dialWeb(place: Rendezvous, port: number, signal: AbortSignal): Promise<WireStream> {
  checkOwn(place.secret, "file", ownerIn(place.folder));
  const text = (await Deno.readTextFile(place.secret)).trim();
  if (!isNonce(text)) throw untrusted("its secret cannot be read");
  signal.throwIfAborted();
  const socket = new WebSocket(`ws://${LOOPBACK}:${port}${PATH}`, PROTOCOL);
  const pipe = new WebPipe(socket);
  const stop = () => pipe.refuse();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await opened(socket);
    return await within(HANDSHAKE_MS, introduce(pipe, new Secret(text), port));
  } catch (error) {
    pipe.refuse();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The Host's side: it proves itself first, for whoever asks has shown nothing that could be passed on. */
async function admit(pipe: WebPipe, secret: Secret, port: number): Promise<WireStream> {
  return await within(
    HANDSHAKE_MS,
    (async () => {
      const { nonce: client } = wordOf(await pipe.word());
      if (!isNonce(client)) throw untrusted("it began with something else than a nonce");
      const challenge: Challenge = { client, host: freshNonce(), port };
      const proof = await secret.prove("host", challenge);
      pipe.say(JSON.stringify({ nonce: challenge.host, proof }));
      await judge(await pipe.word(), "client", secret, challenge);
      const stream = pipe.stream();
      pipe.say("0");
      return stream;
    })(),
  );
}

/** The Client's side. */
async function introduce(pipe: WebPipe, secret: Secret, port: number): Promise<WireStream> {
  const client = freshNonce();
  pipe.say(JSON.stringify({ nonce: client }));
  const answer = await pipe.word();
  const { nonce: host } = wordOf(answer);
  if (!isNonce(host)) throw untrusted("it answered with something else than a nonce");
  const challenge: Challenge = { client, host, port };
  await judge(answer, "host", secret, challenge);
  pipe.say(JSON.stringify({ proof: await secret.prove("client", challenge) }));
  // Its first count of bytes is its welcome.
  await pipe.word();
  return pipe.stream();
}

async function judge(word: string, side: Side, secret: Secret, challenge: Challenge): Promise<void> {
  const { proof } = wordOf(word);
  if (typeof proof === "string" && await secret.accepts(side, challenge, proof)) return;
  throw untrusted("it does not know the secret");
}

function wordOf(text: string): { readonly nonce?: unknown; readonly proof?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Why a request is answered instead of upgraded; undefined for one of ours. */
function refusalOf(request: Request, port: number): Response | undefined {
  const refuse = (status: number, text: string) => new Response(`${text}\n`, { status });
  if (request.headers.has("origin")) return refuse(403, "Pages of a browser are refused");
  if (request.headers.get("host") !== `${LOOPBACK}:${port}`) {
    return refuse(403, "This is not who you look for");
  }
  if (new URL(request.url).pathname !== PATH) return refuse(404, "There is nothing here");
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return refuse(426, "Only a WebSocket is served");
  }
  if (request.headers.get("sec-websocket-protocol") !== PROTOCOL) {
    return refuse(400, "Only Gangway is spoken");
  }
  return undefined;
}

/** Connections that wait to be taken. */
class Arrivals implements AsyncIterable<WireStream> {
  readonly #waiting: WireStream[] = [];
  #state: "open" | "ended" = "open";
  #changed = Promise.withResolvers<void>();

  put(stream: WireStream): void {
    if (this.#state === "ended") return stream.close();
    this.#waiting.push(stream);
    this.#changed.resolve();
  }

  end(): void {
    this.#state = "ended";
    for (const stream of this.#waiting.splice(0)) stream.close();
    this.#changed.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WireStream> {
    for (;;) {
      const stream = this.#waiting.shift();
      if (stream !== undefined) yield stream;
      else if (this.#state === "ended") return;
      else {
        await this.#changed.promise;
        this.#changed = Promise.withResolvers();
      }
    }
  }
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("close", () =>
      reject(
        new HostError("unavailable", "No Host answers at its port", { dispatch: "not_sent" }),
      ), { once: true });
  });
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(untrusted(`it did not introduce itself in ${ms / 1000} seconds`)), ms);
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function untrusted(fact: string): HostError {
  return new HostError("unauthorized", `Whoever holds the Host's port cannot be trusted: ${fact}`, {
    dispatch: "not_sent",
    data: { reason: "untrusted" },
  });
}
