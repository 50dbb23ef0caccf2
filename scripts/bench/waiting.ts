import { FLOOR, type Place, repeat } from "./place.ts";
import { type Figure, median, quantile } from "./figures.ts";
import type { Launch } from "../../src/cli/launch.ts";
import { Probe } from "./probe.ts";

/** From the start of the process to its answer to initialize. */
export async function start({ gangway }: Place): Promise<readonly Figure[]> {
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

/** How long a new Session takes. */
export async function sessions({ folder, gangway }: Place): Promise<readonly Figure[]> {
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

/** From a prompt to the first that is shown of its answer. */
export async function first({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const times = async (launch: Launch) => {
    const probe = new Probe(launch);
    await probe.initialize();
    const sessionId = await probe.session(folder);
    const values = await repeat(200, async (lap) => {
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

/** From a cancel in the middle of streaming to the answer. */
export async function cancel({ folder, gangway }: Place): Promise<readonly Figure[]> {
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

/** The same while a dialog is open that nobody answers. */
export async function dialog({ folder, gangway }: Place): Promise<readonly Figure[]> {
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
