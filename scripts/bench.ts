/**
 * Measures Gangway against the floor, a bare agent on the same SDK, in one run: a table on stdout, JSON in `dist/bench.json`.
 *
 * Usage: `deno task bench [FIGURE…]`; without names all of them. Ends with 1 where a figure misses its limit.
 */
import { cancel, dialog, first, sessions, start } from "./bench/waiting.ts";
import { type Figure, meets, tableOf } from "./bench/figures.ts";
import { flood, load, memory, rate, tools } from "./bench/streaming.ts";
import { crowd, cut, daemon } from "./bench/daemon.ts";
import { type Place, ROOT } from "./bench/place.ts";
import { proxy } from "./bench/proxy.ts";
import { stdoutScreen } from "../src/cli/screen.ts";

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
  proxy,
  daemon,
  crowd,
  cut,
};

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
