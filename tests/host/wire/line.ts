import type { RuntimeHost } from "../../../src/host/contract.ts";
import { HostServer, RemoteHost, type WireLimits, type WireStream } from "../../../src/host/wire/mod.ts";
import type { Clock } from "../../../src/model/clock.ts";
import { keptLog, PROFILE, type ReachedHost } from "../local/world.ts";
import { pair } from "./pair.ts";

/** A client's end that can be cut, and that can be made to hear nothing more. */
export class Tap {
  readonly stream: WireStream;
  readonly #real: WireStream;
  #hears: "all" | "nothing" = "all";
  /** Bytes that came from the Host, heard or not. */
  bytes = 0;

  constructor(real: WireStream) {
    this.#real = real;
    const readable = real.readable.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          this.bytes += chunk.length;
          if (this.#hears === "all") controller.enqueue(chunk);
        },
      }),
    );
    this.stream = { readable, writable: real.writable, close: () => real.close() };
  }

  /** What the Host sends from now on is lost. */
  deafen(): void {
    this.#hears = "nothing";
  }

  cut(): void {
    this.#real.close();
  }
}

/** What a {@linkcode Wire} is made of. */
export interface WireOptions {
  readonly host: Pick<ReachedHost, "connect">;
  readonly clock: Clock;
  readonly limits?: Partial<WireLimits>;
  /** Names the serving process. */
  readonly instance?: string;
  /** Sees the Host's side of each connection that is made. */
  readonly connect?: (connectionId: string) => RuntimeHost;
}

/** A Host that is served in this process, and clients that reach it over pairs of streams. */
export class Wire implements AsyncDisposable {
  readonly server: HostServer;
  /** The client's ends, in the order in which they were dialed. */
  readonly taps: Tap[] = [];
  readonly log: string[] = [];
  readonly #options: WireOptions;
  readonly #served: Promise<void>[] = [];
  readonly #clients: RemoteHost[] = [];
  /** Attempts that fail from now on. */
  #down = 0;
  #ids = 0;

  constructor(options: WireOptions) {
    this.#options = options;
    const { host, clock, limits, instance = "instance" } = options;
    this.server = new HostServer({
      connect: options.connect ?? ((id) => host.connect(id)),
      engines: () => [PROFILE],
      info: () => ({ version: "1.2.3", pid: 7 }),
      instance,
      clock,
      log: keptLog(this.log),
      limits,
    });
  }

  /** A stream to the server. */
  readonly dial = (): Promise<WireStream> => {
    if (this.#down > 0) {
      this.#down--;
      return Promise.reject(new Error("connection refused"));
    }
    const [here, there] = pair();
    const tap = new Tap(here);
    this.taps.push(tap);
    this.#served.push(this.server.serve(there));
    return Promise.resolve(tap.stream);
  };

  /** Lets the next attempts fail. */
  refuse(attempts: number): void {
    this.#down = attempts;
  }

  /** A client of that name. */
  async connect(
    connectionId: string,
    options: Partial<Parameters<typeof RemoteHost.connect>[0]> = {},
  ): Promise<RemoteHost> {
    const { clock, limits } = this.#options;
    const remote = await RemoteHost.connect({
      dial: this.dial,
      clock,
      ids: { next: () => `w${++this.#ids}` },
      log: keptLog(this.log),
      limits,
      connectionId,
      random: () => 0,
      ...options,
    });
    this.#clients.push(remote);
    return remote;
  }

  /** The newest of the client's ends. */
  get tap(): Tap {
    return this.taps.at(-1)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.server.close();
    await Promise.all(this.#served);
  }
}
