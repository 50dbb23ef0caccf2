import { type Figure, median, quantile } from "./figures.ts";
import { FLOOR, type Place, ROOT } from "./place.ts";
import type { Launch } from "../../src/cli/launch.ts";
import { memoryOf, Probe } from "./probe.ts";

/** Rounds; the two ways take turns, so that what else the machine does falls on both. */
const ROUNDS = 9;

/** What a Host in a process of its own costs, against one inside of the adapter. */
export async function daemon({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const hosted = withHost(gangway, "auto");
  try {
    const [inside, through] = [await ready(gangway, folder), await ready(hosted, folder)];
    const waits = { inside: [] as number[], through: [] as number[] };
    for (let lap = 0; lap < 200; lap++) {
      waits.inside.push(await inside.first());
      waits.through.push(await through.first());
    }
    const rates: { inside: number; through: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rates.push({ inside: await inside.rate(), through: await through.rate() });
    }
    for (const { probe } of [inside, through]) await probe.close();
    const [adapter, bare] = [
      await memory(withHost(await bundled(gangway), "auto"), folder),
      await memory(FLOOR, folder),
    ];
    const plain = median(rates.map((rate) => rate.inside));
    return [
      {
        name: "prompt to first update through a Host of its own, against one inside",
        unit: "ms",
        gangway: median(waits.through),
        floor: median(waits.inside),
        judged: "above",
        limit: { kind: "most", value: 2 },
      },
      {
        name: "updates a second through it, against one inside",
        unit: "/s",
        gangway: plain * median(rates.map((rate) => rate.through / rate.inside)),
        floor: plain,
        judged: "ratio",
        limit: { kind: "least", value: 0.5 },
      },
      {
        name: "memory of the adapter as one file, against the floor, after 5000 updates",
        unit: "MiB",
        gangway: adapter,
        floor: bare,
        judged: "above",
        limit: { kind: "most", value: 15 },
      },
    ];
  } finally {
    await stopHost(gangway);
  }
}

/** Many Sessions that speak at once through one Host to four editors. */
export async function crowd({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const [editors, sessions, updates] = [4, 50, 200];
  const agent = ["--", FLOOR.program, ...FLOOR.args];
  const hosted = withHost(gangway, "auto");
  const launch = { ...hosted, args: [...hosted.args, ...agent] };
  try {
    const probes = Array.from({ length: editors }, () => new Probe(launch, "timing"));
    const opened = await Promise.all(probes.map(async (probe) => {
      await probe.initialize();
      const ids: string[] = [];
      for (let made = 0; made < sessions; made++) ids.push(await probe.session(folder));
      // Every Session has its agent's own one before the clock counts.
      for (const id of ids) await probe.prompt(id, "/tick 1 1");
      probe.delays.length = 0;
      return { probe, ids };
    }));
    await Promise.all(
      opened.flatMap(({ probe, ids }) => ids.map((id) => probe.prompt(id, `/tick ${updates} 50`))),
    );
    const delays = probes.flatMap((probe) => probe.delays);
    for (const probe of probes) await probe.close();
    const all = editors * sessions * updates;
    return [
      {
        name: `${editors * sessions} Sessions at 20 updates a second, one Host, four editors: updates lost`,
        unit: "",
        gangway: all - delays.length,
        judged: "value",
        limit: { kind: "most", value: 0 },
      },
      {
        name: "the same: an update on its way, p99",
        unit: "ms",
        gangway: quantile(delays, 0.99),
        judged: "value",
        limit: { kind: "most", value: 250 },
      },
    ];
  } finally {
    await stopHost(gangway);
  }
}

/** How soon what was said in a second without a connection is with the editor. */
export async function cut({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const agent = ["--", FLOOR.program, ...FLOOR.args];
  const [started] = await Promise.all([startHost(gangway)]);
  const line = await Line.open(`${folder}/line`, started);
  const hosted = withHost(gangway, line.path);
  try {
    const probe = new Probe({ ...hosted, args: [...hosted.args, ...agent] }, "timing");
    await probe.initialize();
    const sessionId = await probe.session(folder);
    await probe.prompt(sessionId, "/tick 5 5");
    const waits: number[] = [];
    let wrong = 0;
    for (let round = 0; round < 5; round++) {
      probe.moments.length = probe.delays.length = 0;
      const answer = probe.prompt(sessionId, "/tick 500 5");
      await probe.update();
      const joined = await line.cut(1000);
      await answer;
      const missed = probe.moments.flatMap((left, at) =>
        left < joined ? [left + (probe.delays[at] ?? NaN) - joined] : []
      );
      waits.push(Math.max(...missed));
      wrong += Math.abs(500 - new Set(probe.moments).size) + probe.moments.length -
        new Set(probe.moments).size;
    }
    await probe.close();
    return [
      {
        name: "after a second without connection: what was missed is there, from the new connection on",
        unit: "ms",
        gangway: median(waits),
        judged: "value",
        limit: { kind: "most", value: 200 },
      },
      {
        name: "the same: updates lost or shown twice",
        unit: "",
        gangway: wrong,
        judged: "value",
        limit: { kind: "most", value: 0 },
      },
    ];
  } finally {
    await line.close();
    await stopHost(gangway);
  }
}

/** An editor with a Session that has prompted once. */
async function ready(launch: Launch, folder: string) {
  const probe = new Probe(launch);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  await probe.prompt(sessionId, "/emit 5000 16");
  return {
    probe,
    /** Milliseconds from a prompt to its first update. */
    first: async () => {
      const since = performance.now();
      const shown = probe.update();
      const answer = probe.prompt(sessionId, "/emit 1 16");
      await shown;
      const ms = performance.now() - since;
      await answer;
      return ms;
    },
    /** Updates a second. */
    rate: async () => {
      const [before, since] = [probe.updates, performance.now()];
      await probe.prompt(sessionId, "/emit 20000 16");
      return (probe.updates - before) / (performance.now() - since) * 1000;
    },
  };
}

/** Memory of an agent that has worked a little. */
async function memory(launch: Launch, folder: string): Promise<number> {
  const { probe } = await ready(launch, folder);
  const used = await memoryOf(probe.pid);
  await probe.close();
  return used?.now ?? NaN;
}

/** The same as one file, as it is published. */
async function bundled({ program, args }: Launch): Promise<Launch> {
  await new Deno.Command(program, {
    args: ["run", "-A", `${ROOT}scripts/build.ts`, "bundle"],
    stdout: "null",
  }).output();
  const [run, flag, , ...state] = args;
  return {
    program,
    args: [run, flag, `${ROOT}dist/gangway.js`, ...state].filter((arg) => arg !== undefined),
  };
}

function withHost({ program, args }: Launch, host: string): Launch {
  return { program, args: [...args, "--host", host] };
}

/** Starts a Host of its own for the state folder and resolves with its socket. */
async function startHost({ program, args }: Launch): Promise<string> {
  const [run, flag, main, ...state] = args;
  const command = [run, flag, main, "host", ...state].filter((arg) => arg !== undefined);
  new Deno.Command(program, { args: command, stdin: "null", stdout: "null", stderr: "null" }).spawn().unref();
  const status = [run, flag, main, "host", "status", ...state].filter((arg) => arg !== undefined);
  for (;;) {
    const { stdout } = await new Deno.Command(program, { args: status, stderr: "null" }).output();
    const socket = /^Socket (.+)$/m.exec(new TextDecoder().decode(stdout))?.[1];
    if (socket !== undefined) return socket;
  }
}

async function stopHost({ program, args }: Launch): Promise<void> {
  const [run, flag, main, ...state] = args;
  const command = [run, flag, main, "host", "stop", ...state].filter((arg) => arg !== undefined);
  await new Deno.Command(program, { args: command, stdout: "null", stderr: "null" }).output();
}

/** A line between adapter and Host that can be cut. */
class Line {
  readonly path: string;
  readonly #socket: string;
  readonly #ends = new Set<Deno.Conn>();
  #listener: Deno.Listener | undefined;
  #joined = Promise.withResolvers<number>();

  private constructor(folder: string, socket: string) {
    this.path = `${folder}/socket`;
    this.#socket = socket;
  }

  static async open(folder: string, socket: string): Promise<Line> {
    await Deno.mkdir(folder, { mode: 0o700 });
    const line = new Line(folder, socket);
    line.#listen();
    return line;
  }

  /** Cuts every connection for so long. Resolves with the moment at which the next one is made. */
  async cut(ms: number): Promise<number> {
    this.#hangUp();
    this.#joined = Promise.withResolvers();
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#listen();
    return await this.#joined.promise;
  }

  async close(): Promise<void> {
    this.#hangUp();
    await Deno.remove(this.path).catch(() => {});
  }

  #hangUp(): void {
    this.#listener?.close();
    this.#listener = undefined;
    for (const end of this.#ends) {
      try {
        end.close();
      } catch {
        // Its other side has ended it.
      }
    }
    this.#ends.clear();
  }

  #listen(): void {
    const listener = this.#listener = Deno.listen({ transport: "unix", path: this.path });
    Deno.chmodSync(this.path, 0o600);
    (async () => {
      for await (const near of listener) {
        this.#joined.resolve(performance.timeOrigin + performance.now());
        const far = await Deno.connect({ transport: "unix", path: this.#socket });
        for (const end of [near, far]) this.#ends.add(end);
        near.readable.pipeTo(far.writable).catch(() => {});
        far.readable.pipeTo(near.writable).catch(() => {});
      }
    })().catch(() => {});
  }
}
