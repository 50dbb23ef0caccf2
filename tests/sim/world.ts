import type { RuntimeHost } from "../../src/host/contract.ts";
import type { Clock, Ids } from "../../src/model/clock.ts";
import type { Log } from "../../src/model/log.ts";
import type { ClientPort } from "../../src/session/ports.ts";
import { Sessions } from "../../src/session/mod.ts";
import { EngineNotes } from "./engine_run.ts";
import { GOOD_LINK } from "./fault_plan.ts";
import { FaultyHost } from "./faulty_host.ts";
import { HostProcess, type ReachedHost } from "./host_process.ts";
import { Random } from "./random.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";
import { type Domain, SimClock } from "./sim_clock.ts";
import { SimClient } from "./sim_client.ts";
import { SimFiles } from "./sim_files.ts";
import { SimUser, type UserSessions } from "./sim_user.ts";
import { Tape } from "./tape.ts";
import { Truth } from "./truth.ts";

/** What a test puts between the parts of a connection, to see that the judges notice. */
export interface Plant {
  readonly host?: (host: RuntimeHost, world: World) => RuntimeHost;
  readonly client?: (client: ClientPort, world: World) => ClientPort;
  readonly clock?: (clock: Clock, world: World) => Clock;
  readonly sessions?: (sessions: UserSessions, world: World) => UserSessions;
}

/** What stands between connections and the Host, beside what a connection does wrong by itself. */
export interface Between {
  /** The Host as the connection of that name reaches it, once there is one. */
  connect(by: string): { readonly life: ReachedHost | undefined };
  /** Resolves when every connection reaches it. */
  ready(): Promise<void>;
  /** Faults cease. */
  calm(): void;
}

/** One connection with everything that belongs to it. */
export interface Connection {
  readonly by: string;
  readonly user: SimUser;
  readonly client: SimClient;
  readonly host: FaultyHost;
  readonly files: SimFiles;
  /** The time of the program under test. */
  readonly clock: Domain;
}

/** The simulated world of one seed: a Host that dies and comes back, connections that break, editors and people. */
export class World {
  readonly random: Random;
  readonly scenario: Scenario;
  readonly clock: SimClock;
  readonly tape: Tape;
  readonly truth: Truth = new Truth();
  readonly notes: EngineNotes = new EngineNotes();
  readonly process: HostProcess;
  readonly connections: Connection[] = [];
  /** Sessions that were created. */
  readonly known: string[] = [];
  /** What the program under test logged; for a trace. */
  readonly log: Log;
  readonly between: Between | undefined;
  #healed = Promise.withResolvers<void>();
  #calm = false;

  constructor(seed: number, plant: Plant, between: ((world: World) => Between) | undefined) {
    this.random = new Random(`seed ${seed}`);
    this.scenario = scenarioOf(this.random.fork("scenario"));
    this.clock = new SimClock(this.random.fork("clock"));
    this.tape = new Tape(this.clock);
    const { tape, clock, truth, notes } = this;
    notes.note = (run, what) => tape.add({ kind: "engine", run, what });
    const say = (message: string, data?: unknown) =>
      tape.add({ kind: "phase", what: `log: ${message} ${data === undefined ? "" : JSON.stringify(data)}` });
    this.log = { debug: say, info: say, warn: say, error: say };
    this.process = new HostProcess({
      clock,
      tape,
      truth,
      notes,
      log: this.log,
      random: this.random.fork("host"),
      engine: this.scenario.engine,
      disk: () => this.#calm ? { slow: 0, slowMs: 0, full: 0 } : this.scenario.disk,
    });
    this.between = between?.(this);
    for (let at = 0; at < this.scenario.connections; at++) this.connections.push(this.#connect(at, plant));
  }

  /** Faults cease: the Host is there and answers, editors read and answer, Engines come to an end. */
  calm(): void {
    this.#calm = true;
    this.notes.calm = true;
    this.tape.add({ kind: "phase", what: "calm" });
    if (this.process.life === undefined) this.process.start();
    this.#healed.resolve();
    this.between?.calm();
    for (const { client } of this.connections) client.calm();
  }

  #connect(at: number, plant: Plant): Connection {
    const by = "AB"[at]!;
    const { tape } = this;
    const random = this.random.fork(by);
    const habits = this.between === undefined ? this.scenario.links[at]! : GOOD_LINK;
    const host = new FaultyHost({
      connectionId: by,
      process: this.between?.connect(by) ?? this.process,
      clock: this.clock.domain(`link ${by}`),
      random: random.fork("link"),
      tape,
      habits: () => this.#calm ? GOOD_LINK : habits,
      healed: this.#healed.promise,
    });
    const client = new SimClient({
      by,
      clock: this.clock.domain(`editor ${by}`),
      random: random.fork("client"),
      tape,
      habits: this.scenario.clients[at]!,
    });
    const files = new SimFiles(this.clock.domain(`disk ${by}`), random.fork("files"));
    const clock = this.clock.domain(`sessions ${by}`);
    const port = plant.client?.(client, this) ?? client;
    const sessions = new Sessions({
      host: plant.host?.(host, this) ?? host,
      client: port,
      files,
      clock: plant.clock?.(clock, this) ?? clock,
      ids: idsOf(by),
      log: this.log,
    });
    const user = new SimUser({
      by,
      sessions: plant.sessions?.(sessions, this) ?? sessions,
      client,
      clock: this.clock.domain(`user ${by}`),
      random: random.fork("user"),
      tape,
      habits: this.scenario.users[at]!,
      known: this.known,
    });
    return { by, user, client, host, files, clock };
  }
}

function idsOf(by: string): Ids {
  let count = 0;
  return { next: () => `${by}${++count}` };
}
