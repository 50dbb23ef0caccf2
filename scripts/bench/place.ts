import { fileURLToPath } from "node:url";
import type { Launch } from "../../src/cli/launch.ts";

/** The folder of the project. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** The agent to compare with. */
export const FLOOR: Launch = {
  program: Deno.execPath(),
  args: ["run", "--no-prompt", `${ROOT}scripts/floor.ts`],
};

/** A folder for one measurement. */
export interface Place {
  readonly folder: string;
  /** Gangway with its state below the folder. */
  readonly gangway: Launch;
}

/** Milliseconds of each round; `restart` sets the clock back to zero, `lap` stops it. */
export async function repeat(
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
