import { assert, assertEquals } from "@std/assert";
import { Campaign } from "../../sim/campaign.ts";
import { simulate } from "../../sim/simulation.ts";
import { Wired } from "./wired.ts";

/** As many as a crowded machine plays in the time. */
const LEAST = 40;

Deno.test("a seed over the wire replays exactly", async () => {
  const trace = async (seed: number) => {
    const { trace } = await simulate(seed, {}, (world) => new Wired(world));
    return [...trace()].join("\n").replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "store");
  };
  for (const seed of [2, 7, 18]) assertEquals(await trace(seed), await trace(seed));
});

Deno.test("[R1] [R2] [W1] [W3] 300 seeded wires that break, or two minutes of them, keep every rule at both ends", async () => {
  const campaign = new Campaign({
    seed: 1,
    runs: 300,
    most: 5,
    ms: 120_000,
    between: (world) => new Wired(world),
  });
  await campaign.run();
  assertEquals(campaign.findings, [], "replay a seed: deno task sim --wire --seed N --runs 1 --trace");
  assert(campaign.played >= LEAST, campaign.summary);
});
