// What the program under test loads when it first needs it would take real time in the first simulation.
import "../../src/host/local/registry.ts";
import type { Finding } from "./rules/finding.ts";
import { judge } from "./rules/mod.ts";
import type { Domain } from "./sim_clock.ts";
import { type Between, type Connection, type Plant, World } from "./world.ts";

/** Milliseconds of virtual time within which everything has to come to its end once faults have ceased. */
export const PATIENCE_MS = 150_000;
/** Milliseconds within which a close has to be over, whatever the Host does. */
const CLOSE_MS = 5000;
/** Milliseconds in which what a close leaves behind is settled, where requests may have to wait for a connection. */
const REMOTE_MS = 60_000;
/** Steps after which a simulation counts as running wild. */
const STEPS = 60_000;

/** What came of one seed. */
export interface Outcome {
  readonly seed: number;
  readonly findings: readonly Finding[];
  /** Milliseconds of virtual time. */
  readonly time: number;
  readonly steps: number;
  readonly prompts: number;
  readonly trace: () => Iterable<string>;
}

/** Plays one seed to its end and judges it. */
export async function simulate(
  seed: number,
  plant?: Plant,
  between?: (world: World) => Between,
): Promise<Outcome> {
  const world = new World(seed, plant ?? {}, between);
  const { clock, tape } = world;
  const broken = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    const reason = event.reason instanceof Error
      ? event.reason.stack ?? event.reason.message
      : String(event.reason);
    tape.add({ kind: "wrong", rule: "unhandled", what: reason });
  };
  globalThis.addEventListener("unhandledrejection", broken);
  try {
    await new Play(world).run();
  } finally {
    globalThis.removeEventListener("unhandledrejection", broken);
  }
  const prompts = tape.of("asked").filter((entry) => entry.wish === "prompt").length;
  return {
    seed,
    findings: judge(world),
    time: clock.now(),
    steps: clock.steps,
    prompts,
    trace: () => tape.lines(),
  };
}

/** The course of a simulation. */
class Play {
  readonly #world: World;
  readonly #director: Domain;

  constructor(world: World) {
    this.#world = world;
    this.#director = world.clock.domain("director");
  }

  async run(): Promise<void> {
    const { clock, connections, process, scenario } = this.#world;
    await this.#connected();
    let busy = connections.length + 1;
    const over = () => void busy--;
    for (const { user } of connections) user.live().then(over, over);
    this.#trouble().then(over, over);
    await this.#until(() => busy === 0, 10_000_000, "people come to an end");
    switch (scenario.finale) {
      case "patience":
        await this.#patience();
        break;
      case "cancel":
        this.#world.calm();
        for (const { user } of connections) user.cancelAll();
        await this.#patience();
        break;
      case "close":
        await this.#closeAll();
        this.#world.calm();
        await this.#patience();
        break;
      case "shutdown":
    }
    this.#phase("shutdown");
    const ends = connections.map(({ user }) => user.shutdown());
    let ended = false;
    Promise.all(ends).then(() => ended = true);
    await this.#until(() => ended, CLOSE_MS, "every shutdown is over");
    this.#world.calm();
    this.#phase("silence");
    await clock.run(CLOSE_MS);
    this.#rest("after shutdown", (connection) => [
      ...connection.host.open.map((sessionId) => `a Subscription of ${sessionId}`),
      ...connection.client.waiting,
      ...connection.client.terminals,
      ...(connection.clock.sleeping > 0 ? [`${connection.clock.sleeping} timers`] : []),
      ...(connection.files.open > 0 ? [`${connection.files.open} open files`] : []),
      // Whatever else was asked may wait for an answer of the Host.
      ...connection.user.waiting.filter((what) => what.startsWith("prompt") || what.startsWith("close")),
    ]);
    let closed = false;
    process.drain().then(() => closed = true, (error) => {
      this.#wrong("rest", `the Host does not close: ${error}`);
      closed = true;
    });
    await this.#until(() => closed, PATIENCE_MS, "the Host is closed");
    const halt = await clock.run(10_000_000, undefined, STEPS);
    if (halt !== "idle") this.#wrong("rest", `the world does not come to rest: ${halt}`);
    const sleepers = clock.sleepers();
    if (sleepers.length > 0) this.#wrong("rest", `there are still sleepers: ${sleepers.join(", ")}`);
  }

  async #connected(): Promise<void> {
    let connected: "no" | "yes" = "no";
    const ready = this.#world.between?.ready() ?? Promise.resolve();
    ready.then(() => connected = "yes");
    await this.#until(() => connected === "yes", CLOSE_MS, "connections reach the Host");
  }

  /** Kills and restarts the Host now and then. */
  async #trouble(): Promise<void> {
    const { process, scenario } = this.#world;
    const random = this.#world.random.fork("trouble");
    for (let left = scenario.restarts; left > 0; left--) {
      await this.#director.sleep(random.between(1, 6000));
      if (random.chance(0.6)) await process.kill();
      else await process.drain();
      await this.#director.sleep(random.weighted([[4, 0], [4, random.between(1, 3000)], [1, 70_000]]));
      process.start();
    }
  }

  async #patience(): Promise<void> {
    const { connections } = this.#world;
    this.#world.calm();
    await this.#until(
      () => connections.every(({ user }) => user.waiting.length === 0),
      PATIENCE_MS,
      "every request is answered",
    );
    await this.#world.clock.run(CLOSE_MS);
    this.#phase("quiet");
    await this.#closeAll();
  }

  /** Closes everything and looks whether something is left of it. */
  async #closeAll(): Promise<void> {
    const { connections, clock } = this.#world;
    this.#phase("close all");
    for (const { user } of connections) user.closeAll();
    await this.#until(
      () => connections.every(({ user }) => !user.waiting.some((what) => what.startsWith("close"))),
      CLOSE_MS,
      "every close is over",
    );
    const joining = connections.filter(({ user }) => user.waiting.length > 0);
    await clock.run(this.#world.between === undefined ? CLOSE_MS : REMOTE_MS);
    this.#rest(
      "after close",
      (connection) =>
        joining.includes(connection) || connection.user.owned.size > 0 ? [] : [
          ...connection.host.open.map((sessionId) => `a Subscription of ${sessionId}`),
          // A terminal that an editor may still make is waited for, so that it can be released.
          ...connection.client.waiting.filter((what) => !what.startsWith("terminal/create")),
          ...connection.client.terminals,
          ...(connection.clock.sleeping > 0 ? [`${connection.clock.sleeping} timers`] : []),
          ...(connection.files.open > 0 ? [`${connection.files.open} open files`] : []),
        ],
    );
  }

  async #until(done: () => boolean, ms: number, what: string): Promise<void> {
    const halt = await this.#world.clock.run(ms, done, STEPS);
    if (halt === "done" || done()) return;
    const waiting = this.#world.connections.flatMap(({ by, user }) =>
      user.waiting.map((each) => `${by}: ${each}`)
    );
    this.#wrong("bounded", `${halt} before ${what}: ${waiting.join(", ")}`);
  }

  #rest(when: string, left: (connection: Connection) => readonly string[]): void {
    for (const connection of this.#world.connections) {
      const what = left(connection);
      if (what.length > 0) this.#wrong("rest", `${when} ${connection.by} has left ${what.join(", ")}`);
    }
  }

  #phase(what: string): void {
    this.#world.tape.add({ kind: "phase", what });
  }

  #wrong(rule: string, what: string): void {
    this.#world.tape.add({ kind: "wrong", rule, what });
  }
}
