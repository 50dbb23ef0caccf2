/**
 * Plays seeded interleavings of users, editors, connections, Hosts and Engines, and judges each of them.
 *
 * Usage: `deno task sim [--wire] [--seed N] [--runs N] [--most N] [--trace]`. With `--wire` connections reach the Host over bytes. A rule that did not hold names its seed; that seed alone with
 * `--trace` prints the whole interleaving. Stops after `--most` seeds that failed, and ends with 1 where one did.
 */
import { parseArgs } from "@std/cli/parse-args";
import { stdoutScreen } from "../../src/cli/screen.ts";
import { Wired } from "../host/wire/wired.ts";
import { Campaign } from "./campaign.ts";

async function main(args: readonly string[]): Promise<number> {
  const screen = stdoutScreen();
  const flags = parseArgs([...args], {
    string: ["seed", "runs", "most"],
    boolean: ["trace", "wire"],
    default: { seed: "1", runs: "1", most: "10" },
  });
  const campaign = new Campaign({
    seed: Number(flags.seed),
    runs: Number(flags.runs),
    most: Number(flags.most),
    ...(flags.wire && { between: (world) => new Wired(world) }),
    each: (outcome) => {
      if (flags.trace) { for (const line of outcome.trace()) screen.line(line); }
    },
  });
  await campaign.run();
  for (const finding of campaign.findings) screen.line(finding);
  screen.line(campaign.summary);
  return campaign.failed > 0 ? 1 : 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
