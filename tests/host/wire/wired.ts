import type { RuntimeHost, Subscription } from "../../../src/host/contract.ts";
import { HostServer, RemoteHost, type WireStream } from "../../../src/host/wire/mod.ts";
import type { Frame, FrameBatch } from "../../../src/model/frame.ts";
import type { HostProcess, Life, ReachedHost } from "../../sim/host_process.ts";
import { hostWith, subscriptionWith } from "../../sim/planted/planted.ts";
import type { Random } from "../../sim/random.ts";
import type { Domain } from "../../sim/sim_clock.ts";
import type { Between, World } from "../../sim/world.ts";
import { ChaosChannel, type ChaosHabits, habitsOf, QUIET } from "./chaos.ts";

/** A life of the Host with what serves it. */
interface Served {
  readonly server: HostServer;
  readonly domain: Domain;
}

/** What the Host handed out, by the number that its snapshot carries to the other end. */
type Handed = Map<number, Frame[]>;

/**
 * Between connections and the Host: each connection is a client of its own, which reaches the Host by connections of bytes on which everything
 * goes wrong. What comes out at the client's end is compared with what the Host handed out.
 */
export class Wired implements Between {
  readonly #world: World;
  readonly #process: HostProcess;
  readonly #random: Random;
  readonly #served = new Map<Life, Served>();
  readonly #handed: Handed = new Map();
  readonly #channels = new Set<ChaosChannel>();
  readonly #connecting: Promise<void>[] = [];
  #habits: "quiet" | "wild" = "quiet";
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.#process = world.process;
    this.#random = world.random.fork("wire");
  }

  connect(by: string): { readonly life: ReachedHost | undefined } {
    const { clock, tape, log } = this.#world;
    const random = this.#random.fork(by);
    const habits = habitsOf(random);
    const chaos = clock.domain(`chaos ${by}`);
    let ids = 0;
    const access: { life: ReachedHost | undefined } = { life: undefined };
    const connecting = RemoteHost.connect({
      dial: () => this.#dial(by, chaos, random, habits),
      clock: clock.domain(`remote ${by}`),
      ids: { next: () => `${by}-key${++ids}` },
      log,
      connectionId: by,
      random: () => random.next(),
    });
    this.#connecting.push(connecting.then((remote) => {
      const host = this.#compared(remote, by);
      access.life = { reach: () => host, over: Promise.withResolvers() };
    }, (error) => tape.add({ kind: "wrong", rule: "wire", what: `${by} cannot connect: ${error}` })));
    return access;
  }

  async ready(): Promise<void> {
    await Promise.all(this.#connecting);
    this.#habits = "wild";
  }

  calm(): void {
    this.#habits = "quiet";
  }

  async #dial(by: string, clock: Domain, random: Random, own: ChaosHabits): Promise<WireStream> {
    const { tape } = this.#world;
    const habits = () => this.#habits === "quiet" ? QUIET : own;
    const { slow, slowMs, refuse, replay } = habits();
    await clock.sleep(random.chance(slow) ? random.between(0, slowMs) : 0);
    const { life } = this.#process;
    if (life === undefined || random.chance(refuse)) throw new Error("connection refused");
    const parts = {
      clock,
      random,
      habits,
      gone: () => life.end === "killed",
      note: (what: string) => tape.add({ kind: "fault", by, what: `the wire ${what}` }),
    };
    const { server } = this.#serve(life);
    const channel = new ChaosChannel(parts);
    this.#channels.add(channel);
    server.serve(channel.there).then(() => this.#channels.delete(channel));
    if (random.chance(replay)) {
      clock.sleep(random.between(0, 3000)).then(() => this.#replay(channel, parts, server));
    }
    return channel.here;
  }

  /** Another connection says all that this one has said. */
  async #replay(
    { sent }: ChaosChannel,
    parts: ConstructorParameters<typeof ChaosChannel>[0],
    server: HostServer,
  ): Promise<void> {
    if (parts.gone()) return;
    parts.note("says everything again");
    const channel = new ChaosChannel({ ...parts, habits: () => QUIET });
    const served = server.serve(channel.there);
    const drained = channel.here.readable.pipeTo(new WritableStream());
    const writer = channel.here.writable.getWriter();
    try {
      for (const chunk of [...sent]) await writer.write(chunk);
    } catch {
      // It was refused.
    }
    await parts.clock.sleep(100);
    channel.cut();
    await Promise.allSettled([served, drained]);
  }

  #serve(life: Life): Served {
    const known = this.#served.get(life);
    if (known !== undefined) return known;
    const { clock, log, tape } = this.#world;
    const domain = clock.domain(`server ${this.#served.size + 1}`);
    const server = new HostServer({
      connect: (connectionId) => this.#recorded(life.local.connect(connectionId)),
      engines: () => [life.local.connect("describing").describe()],
      info: () => ({ version: "0" }),
      instance: `instance${this.#served.size + 1}`,
      clock: domain,
      log,
    });
    const served = { server, domain };
    this.#served.set(life, served);
    life.over.promise.then(async () => {
      if (life.end === "killed") {
        domain.kill();
        for (const channel of this.#channels) channel.cut();
        return;
      }
      await server.close();
      if (server.connections.length > 0) {
        tape.add({ kind: "wrong", rule: "wire", what: "a connection is left in a server that was closed" });
      }
    });
    return served;
  }

  /** A Host that writes down what its Subscriptions hand out. */
  #recorded(host: RuntimeHost): RuntimeHost {
    return hostWith(host, {
      sessions: {
        open: async (sessionId, services) => {
          const subscription = await host.sessions.open(sessionId, services);
          const number = ++this.#count;
          const frames: Frame[] = [];
          this.#handed.set(number, frames);
          const snapshot = { ...subscription.snapshot, number };
          return {
            ...subscriptionWith(subscription, {
              next: (batch) => {
                frames.push(...batch.frames);
                return batch;
              },
            }),
            snapshot,
          };
        },
      },
    });
  }

  /** A client's Host whose Subscriptions have to bring what the Host handed out: in order, nothing twice, nothing left out. */
  #compared(host: RuntimeHost, by: string): RuntimeHost {
    return hostWith(host, {
      sessions: {
        open: async (sessionId, services) => this.#checked(await host.sessions.open(sessionId, services), by),
      },
    });
  }

  #checked(subscription: Subscription, by: string): Subscription {
    const { tape } = this.#world;
    const number: unknown = Reflect.get(subscription.snapshot, "number");
    const handed = (typeof number === "number" ? this.#handed.get(number) : undefined) ?? [];
    let at = 0;
    const check = ({ first, frames }: FrameBatch): void => {
      if (first !== at + 1) {
        tape.add({ kind: "wrong", rule: "wire", what: `${by} got frame ${first} after ${at}` });
      }
      for (const frame of frames) {
        // How it ends the client may say by itself.
        if (frame.type === "closed" && ["lost", "released"].includes(frame.reason)) return;
        if (JSON.stringify(handed[at]) !== JSON.stringify(frame)) {
          tape.add({
            kind: "wrong",
            rule: "wire",
            what: `${by} got another frame ${at + 1} of stream ${number}`,
          });
        }
        at++;
      }
    };
    return subscriptionWith(subscription, {
      next: (batch) => {
        check(batch);
        return batch;
      },
    });
  }
}
