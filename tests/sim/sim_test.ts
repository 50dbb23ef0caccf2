import { assert, assertEquals } from "@std/assert";
import { Campaign } from "./campaign.ts";
import { simulate } from "./simulation.ts";

/** As many as a crowded machine plays in the time. */
const LEAST = 100;

/** Identities that a store makes up by itself. */
const STORE = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

async function trace(seed: number): Promise<string> {
  return [...(await simulate(seed)).trace()].join("\n").replaceAll(STORE, "store");
}

Deno.test("a seed replays exactly, whatever was played before", async () => {
  for (const seed of [3, 14, 15, 92, 65]) {
    const first = await trace(seed);
    await simulate(seed + 1000);
    assertEquals(await trace(seed), first);
  }
});

Deno.test("[R1] [P6] [C7] [T1] [K9] 3,000 seeded interleavings, or three minutes of them, keep every rule", async () => {
  const campaign = new Campaign({ seed: 1, runs: 3000, most: 5, ms: 180_000 });
  await campaign.run();
  const bytes = new TextEncoder().encode(`${campaign.summary}\n`);
  await Deno.stdout.write(bytes);
  assertEquals(campaign.findings, [], "replay a seed: deno task sim --seed N --runs 1 --trace");
  assert(campaign.played >= LEAST, campaign.summary);
});
