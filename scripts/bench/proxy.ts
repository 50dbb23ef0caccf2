import { type Figure, median } from "./figures.ts";
import { FLOOR, type Place, ROOT } from "./place.ts";
import { Probe } from "./probe.ts";

/** Rounds; Gangway and the proxy take turns, so that what else the machine does falls on both. */
const ROUNDS = 15;

/** What it costs an agent to be behind Gangway, against the thinnest proxy on the same SDK in front of the same agent. */
export async function proxy({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const agent = [FLOOR.program, ...FLOOR.args];
  const behind = { ...gangway, args: [...gangway.args, "--", ...agent] };
  const passing = { program: FLOOR.program, args: ["run", "-A", `${ROOT}scripts/proxy.ts`, ...agent] };
  const delays = await rounds(() => new Probe(behind, "timing"), () => new Probe(passing, "timing"), folder, {
    warm: "/tick 50 2",
    async measure(probe, prompt) {
      probe.delays.length = 0;
      await prompt("/tick 200 5");
      return median(probe.delays);
    },
  });
  const rates = await rounds(() => new Probe(behind), () => new Probe(passing), folder, {
    warm: "/emit 5000 16",
    async measure(probe, prompt) {
      const [before, since] = [probe.updates, performance.now()];
      await prompt("/emit 20000 16");
      return (probe.updates - before) / (performance.now() - since) * 1000;
    },
  });
  const [delay, rate] = [median(delays.map(([, floor]) => floor)), median(rates.map(([, floor]) => floor))];
  return [
    {
      name: "an update of an agent through Gangway, against a proxy, p50",
      unit: "ms",
      gangway: delay + median(delays.map(([own, floor]) => own - floor)),
      floor: delay,
      judged: "above",
      limit: { kind: "most", value: 2 },
    },
    {
      name: "updates of an agent a second, against a proxy",
      unit: "/s",
      gangway: rate * median(rates.map(([own, floor]) => own / floor)),
      floor: rate,
      judged: "ratio",
      limit: { kind: "least", value: 0.7 },
    },
  ];
}

interface Measurement {
  /** A prompt before the first round. */
  readonly warm: string;
  measure(probe: Probe, prompt: (text: string) => Promise<unknown>): Promise<number>;
}

/** What each of the two came to in each round. */
async function rounds(
  own: () => Probe,
  floor: () => Probe,
  cwd: string,
  { warm, measure }: Measurement,
): Promise<readonly (readonly [own: number, floor: number])[]> {
  const both = [];
  for (const start of [own, floor]) {
    const probe = start();
    await probe.initialize();
    const sessionId = await probe.session(cwd);
    const prompt = (text: string) => probe.prompt(sessionId, text);
    await prompt(warm);
    both.push({ probe, once: () => measure(probe, prompt) });
  }
  const pairs: [number, number][] = [];
  const [first, second] = both;
  for (let round = 0; round < ROUNDS; round++) {
    pairs.push([await first?.once() ?? NaN, await second?.once() ?? NaN]);
  }
  for (const { probe } of both) await probe.close();
  return pairs;
}
