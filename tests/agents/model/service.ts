import type { Json, JsonObject } from "../../../src/model/json.ts";
import type { Said } from "./script.ts";

/** How one kind of model service is spoken. */
export interface Dialect {
  /** The events of a streamed reply, in order. */
  events(said: readonly Said[], request: JsonObject): Iterable<ModelEvent>;
  /** What the service does for a request: a streamed reply, or an answer in one piece. */
  answer(
    path: string,
    request: JsonObject,
  ): { readonly said: readonly Said[] } | { readonly body: JsonObject };
}

/** One event of a stream; `wait` leaves the stream open until the agent hangs up. */
export type ModelEvent = { readonly event?: string; readonly data: Json } | "wait";

/** A model service on loopback, as far as an agent needs one. */
export class ModelService {
  /** Where it listens. */
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #closing = new AbortController();

  /** Listens on a free port. */
  constructor(dialect: Dialect) {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#serve(dialect, request),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Hangs up on everybody. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#server.shutdown();
  }

  async #serve(dialect: Dialect, request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    this.asked.push(path);
    if (request.method !== "POST") return new Response(null, { status: 200 });
    const body: JsonObject = text === "" ? {} : JSON.parse(text);
    const answer = dialect.answer(path, body);
    if ("body" in answer) return Response.json(answer.body);
    return new Response(this.#stream(dialect.events(answer.said, body)), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  #stream(events: Iterable<ModelEvent>): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    const closing = this.#closing.signal;
    const iterator = events[Symbol.iterator]();
    const over = Promise.withResolvers<void>();
    closing.addEventListener("abort", () => over.resolve(), { once: true });
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = iterator.next();
        if (done) return controller.close();
        if (value === "wait") {
          await over.promise;
          return;
        }
        const name = value.event === undefined ? "" : `event: ${value.event}\n`;
        controller.enqueue(encoder.encode(`${name}data: ${JSON.stringify(value.data)}\n\n`));
      },
      cancel: () => over.resolve(),
    });
  }
}
