/**
 * Measures Gangway against the floor, a bare agent on the same SDK, in one run: a table on stdout, JSON in `dist/bench.json`.
 *
 * Usage: `deno task bench [FIGURE…]`; without names all of them. Ends with 1 where a figure misses its limit.
 */
import { type Figure, median, meets, quantile, tableOf } from "./bench/figures.ts";
import { writeHistory } from "./bench/history.ts";
import { memoryOf, Probe } from "./bench/probe.ts";
import { LIMITS } from "../src/limits.ts";
import { fileURLToPath } from "node:url";
import type { Launch } from "../src/cli/launch.ts";
import { stdoutScreen } from "../src/cli/screen.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const FLOOR: Launch = { program: Deno.execPath(), args: ["run", "--no-prompt", `${ROOT}scripts/floor.ts`] };

/** A folder for one measurement. */
interface Place {
  readonly folder: string;
  /** Gangway with its state below the folder. */
  readonly gangway: Launch;
}

/** Everything that can be measured, by name. */
const MEASUREMENTS: Readonly<Record<string, (place: Place) => Promise<readonly Figure[]>>> = {
  start,
  sessions,
  first,
  rate,
  memory,
  cancel,
  dialog,
  flood,
  tools,
  load,
};

async function start({ gangway }: Place): Promise<readonly Figure[]> {
  const once = async (launch: Launch) => {
    const since = performance.now();
    const probe = new Probe(launch);
    await probe.initialize();
    const ms = performance.now() - since;
    await probe.close();
    return ms;
  };
  const own: number[] = [];
  const floor: number[] = [];
  await once(gangway);
  await once(FLOOR);
  for (let run = 0; run < 20; run++) {
    own.push(await once(gangway));
    floor.push(await once(FLOOR));
  }
  return [{
    name: "spawn to initialize answered",
    unit: "ms",
    gangway: median(own),
    floor: median(floor),
    judged: "ratio",
    limit: { kind: "most", value: 1.3 },
  }];
}

async function sessions({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const times = async (launch: Launch) => {
    const probe = new Probe(launch);
    await probe.initialize();
    const values = await repeat(30, async () => void await probe.session(folder));
    await probe.close();
    return values;
  };
  const [fresh = NaN, ...later] = await times(gangway);
  const [floorFresh, ...floorLater] = await times(FLOOR);
  return [
    {
      name: "session/new, the first in a fresh folder",
      unit: "ms",
      gangway: fresh,
      floor: floorFresh,
      judged: "value",
      limit: { kind: "report" },
    },
    {
      name: "session/new, later ones",
      unit: "ms",
      gangway: median(later),
      floor: median(floorLater),
      judged: "above",
      limit: { kind: "most", value: 5 },
    },
  ];
}

async function first({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const times = async (launch: Launch) => {
    const probe = new Probe(launch);
    await probe.initialize();
    const sessionId = await probe.session(folder);
    const values = await repeat(40, async (lap) => {
      const shown = probe.update();
      const answer = probe.prompt(sessionId, "/emit 1 16");
      await shown;
      lap();
      await answer;
    });
    await probe.close();
    return values;
  };
  const [opening = NaN, ...later] = await times(gangway);
  const [, ...floorLater] = await times(FLOOR);
  return [
    {
      name: "prompt to first update, first prompt",
      unit: "ms",
      gangway: opening,
      judged: "value",
      limit: { kind: "report" },
    },
    {
      name: "prompt to first update, later prompts",
      unit: "ms",
      gangway: median(later),
      floor: median(floorLater),
      judged: "above",
      limit: { kind: "most", value: 2 },
    },
  ];
}

async function rate({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const count = 100_000;
  const once = async (launch: Launch) => {
    const probe = new Probe(launch);
    await probe.initialize();
    const sessionId = await probe.session(folder);
    await probe.prompt(sessionId, "/emit 2000 16");
    const before = probe.updates;
    const since = performance.now();
    await probe.prompt(sessionId, `/emit ${count} 16`);
    const seconds = (performance.now() - since) / 1000;
    const updates = probe.updates - before;
    await probe.close();
    return { rate: updates / seconds, updates };
  };
  const own = [];
  const floor = [];
  for (let run = 0; run < 3; run++) {
    own.push(await once(gangway));
    floor.push(await once(FLOOR));
  }
  return [
    {
      name: "updates a second, 16 bytes each",
      unit: "/s",
      gangway: median(own.map(({ rate }) => rate)),
      floor: median(floor.map(({ rate }) => rate)),
      judged: "ratio",
      limit: { kind: "least", value: 0.8 },
    },
    {
      name: `updates that arrived of ${count}: none merged`,
      unit: "",
      gangway: Math.min(...own.map(({ updates }) => updates)),
      judged: "value",
      limit: { kind: "least", value: count },
    },
  ];
}

async function memory({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const length = 16 * 1024 * 1024;
  const probe = new Probe(gangway, "parsing");
  await probe.initialize();
  const sessionId = await probe.session(folder);
  await probe.prompt(sessionId, "/emit 100 16");
  const idle = await memoryOf(probe.pid);
  const before = probe.text;
  probe.sleep(new Promise((resolve) => setTimeout(resolve, 3000)));
  await probe.prompt(sessionId, `/emit ${length / 64} 64`);
  const after = await memoryOf(probe.pid);
  const arrived = probe.text - before;
  await probe.close();
  return [
    {
      name: "16 MiB of small deltas, editor asleep: characters lost",
      unit: "",
      gangway: length - arrived,
      judged: "value",
      limit: { kind: "most", value: 0 },
    },
    {
      name: "the same: peak memory above idle",
      unit: "MiB",
      gangway: (after?.peak ?? NaN) - (idle?.now ?? NaN),
      judged: "value",
      limit: { kind: "most", value: 40 },
    },
  ];
}

async function cancel({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const probe = new Probe(gangway);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  const times = await repeat(100, async (_, restart) => {
    const shown = probe.update();
    const answer = probe.prompt(sessionId, "/emit 10000000 16");
    await shown;
    restart();
    probe.cancel(sessionId);
    await answer;
  });
  await probe.close();
  return [cancelFigure("cancel to answer while streaming, p99", times)];
}

async function dialog({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const probe = new Probe(gangway);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  const times = await repeat(100, async (_, restart) => {
    const asked = probe.question();
    const answer = probe.prompt(sessionId, "/run true");
    await asked;
    restart();
    probe.cancel(sessionId);
    await answer;
  });
  await probe.close();
  return [cancelFigure("cancel to answer, dialog never answered, p99", times)];
}

function cancelFigure(name: string, times: readonly number[]): Figure {
  return {
    name,
    unit: "ms",
    gangway: quantile(times, 0.99),
    judged: "value",
    limit: { kind: "most", value: 50 },
  };
}

async function flood({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const bytes = 32 * 1024 * 1024;
  const probe = new Probe(gangway);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  const before = probe.bytes;
  await probe.prompt(sessionId, `/flood ${bytes}`);
  const written = probe.bytes - before;
  const longest = probe.longest;
  await probe.close();
  return [
    {
      name: "a tool that writes 32 MiB: bytes on the wire for each",
      unit: "",
      gangway: written / bytes,
      judged: "value",
      limit: { kind: "most", value: 3 },
    },
    {
      name: "the same: longest line",
      unit: "bytes",
      gangway: longest,
      judged: "value",
      limit: { kind: "most", value: 48 * 1024 },
    },
  ];
}

async function tools({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const probe = new Probe(gangway);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  await probe.prompt(sessionId, "/tools 10");
  const idle = await memoryOf(probe.pid);
  const ended = await probe.prompt(sessionId, `/tools ${LIMITS.promptTools}`);
  const after = await memoryOf(probe.pid);
  const refused = await probe.prompt(sessionId, `/tools ${LIMITS.promptTools + 1}`)
    .then(() => 0, (error) => String(error).includes("tool_presentation_capacity") ? 1 : 0);
  await probe.close();
  return [
    {
      name: `${LIMITS.promptTools} tools in one prompt: peak memory above idle`,
      unit: "MiB",
      gangway: ended === "end_turn" ? (after?.peak ?? NaN) - (idle?.now ?? NaN) : NaN,
      judged: "value",
      limit: { kind: "most", value: 64 },
    },
    {
      name: "one tool more: prompts that failed on purpose, of 1",
      unit: "",
      gangway: refused,
      judged: "value",
      limit: { kind: "least", value: 1 },
    },
  ];
}

async function load({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const rows = 100_000;
  await writeHistory(`${folder}/state`, folder, "long", rows);
  const probe = new Probe(gangway);
  await probe.initialize();
  await probe.session(folder);
  const idle = await memoryOf(probe.pid);
  const since = performance.now();
  await probe.request("session/load", { sessionId: "long", cwd: folder, mcpServers: [] });
  const seconds = (performance.now() - since) / 1000;
  const after = await memoryOf(probe.pid);
  await probe.close();
  return [
    {
      name: "session/load of 100,000 rows: rows a second",
      unit: "/s",
      gangway: rows / seconds,
      judged: "value",
      limit: { kind: "least", value: 20_000 },
    },
    {
      name: "the same: peak memory above idle",
      unit: "MiB",
      gangway: (after?.peak ?? NaN) - (idle?.now ?? NaN),
      judged: "value",
      limit: { kind: "most", value: 64 },
    },
  ];
}

/** Milliseconds of each round; `restart` sets the clock back to zero, `lap` stops it. */
async function repeat(
  rounds: number,
  work: (lap: () => void, restart: () => void) => Promise<void>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let since = performance.now();
    let until: number | undefined;
    await work(() => until = performance.now(), () => since = performance.now());
    times.push((until ?? performance.now()) - since);
  }
  return times;
}

async function main(names: readonly string[]): Promise<number> {
  const screen = stdoutScreen();
  const strange = names.find((name) => !(name in MEASUREMENTS));
  if (strange !== undefined) {
    screen.line(`There is no figure "${strange}": take some of ${Object.keys(MEASUREMENTS).join(", ")}`);
    return 2;
  }
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(MEASUREMENTS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "gangway-bench-" }));
    const args = ["run", "-A", `${ROOT}mod.ts`, "--state", `${folder}/state`];
    try {
      figures.push(...await measure({ folder, gangway: { program: Deno.execPath(), args } }));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  screen.line(tableOf(figures));
  await Deno.mkdir(`${ROOT}dist`, { recursive: true });
  await Deno.writeTextFile(
    `${ROOT}dist/bench.json`,
    JSON.stringify({ deno: Deno.version.deno, figures }, null, 2) + "\n",
  );
  return figures.every(meets) ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
