/**
 * Plays seeded interleavings of users, editors, connections, Hosts and Engines, and judges each of them.
 *
 * Usage: `deno task sim [--seed N] [--runs N] [--trace]`. A failed rule names its seed; that seed alone with `--trace` prints
 * the whole interleaving. Ends with 1 where a rule did not hold.
 */
import { parseArgs } from "@std/cli/parse-args";
import { simulate } from "./simulation.ts";
import { stdoutScreen } from "../../src/cli/screen.ts";

const screen = stdoutScreen();

const flags = parseArgs(Deno.args, {
  string: ["seed", "runs", "most"],
  boolean: ["trace"],
  default: { seed: "1", runs: "1", most: "10" },
});
const first = Number(flags.seed);
const runs = Number(flags.runs);
const began = performance.now();
let failed = 0;
let steps = 0;
let prompts = 0;
for (let seed = first; seed < first + runs; seed++) {
  const outcome = await simulate(seed);
  steps += outcome.steps;
  prompts += outcome.prompts;
  if (flags.trace) { for (const line of outcome.trace()) screen.line(line); }
  if (outcome.findings.length === 0) continue;
  failed++;
  for (const { rule, what, seq } of outcome.findings.slice(0, 5)) {
    screen.line(`seed ${seed}: ${rule}: ${what} (event ${seq})`);
  }
  if (failed >= Number(flags.most)) break;
}
const seconds = (performance.now() - began) / 1000;
screen.line(
  `${runs} seeds from ${first}: ${failed} failed; ${(runs / seconds).toFixed(0)} seeds/s, ` +
    `${Math.round(steps / runs)} steps and ${(prompts / runs).toFixed(1)} prompts a seed`,
);
Deno.exitCode = failed > 0 ? 1 : 0;
