import { dialSocket, listenOnSocket } from "../../../../src/host/wire/transport/socket.ts";
import { dialWeb, listenOnWeb } from "../../../../src/host/wire/transport/web.ts";
import type { Listener } from "../../../../src/host/wire/transport/listener.ts";
import { Rendezvous } from "../../../../src/host/wire/transport/rendezvous.ts";
import type { WireStream } from "../../../../src/host/wire/stream.ts";
import { withFolder } from "../../../support/launch.ts";

/** A transport as both of its ends use it. */
export interface Transport {
  readonly name: string;
  listen(place: Rendezvous): Listener;
  dial(place: Rendezvous, listener: Listener, signal?: AbortSignal): Promise<WireStream>;
}

export const TRANSPORTS: readonly Transport[] = [
  {
    name: "socket",
    listen: (place) => listenOnSocket(place.socket(undefined)),
    dial: (place, _, signal = NEVER) => dialSocket(place.socket(undefined), signal),
  },
  {
    name: "web",
    listen: (place) => listenOnWeb(place),
    dial: (place, listener, signal = NEVER) => dialWeb(place, portOf(listener), signal),
  },
];

export const NEVER: AbortSignal = new AbortController().signal;

export function portOf({ endpoint }: Listener): number {
  if (endpoint.transport !== "web") throw new Error("it listens on no port");
  return endpoint.port;
}

/** A prepared state folder. */
export function withPlace(body: (place: Rendezvous) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const place = new Rendezvous(folder);
    place.prepare();
    await body(place);
  });
}

/** Both ends of one connection. */
export async function withPair(
  transport: Transport,
  body: (near: WireStream, far: WireStream) => Promise<void>,
): Promise<void> {
  await withPlace(async (place) => {
    const listener = transport.listen(place);
    const arrivals = listener.connections[Symbol.asyncIterator]();
    const [near, far] = await Promise.all([transport.dial(place, listener), arrivals.next()]);
    if (far.done === true) throw new Error("nobody came");
    try {
      await body(near, far.value);
    } finally {
      near.close();
      far.value.close();
      await listener.close();
      await arrivals.next();
    }
  });
}

/** Everything up to the end of a stream. */
export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}
