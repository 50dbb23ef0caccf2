import { assert, assertEquals } from "@std/assert";
import { simulate } from "./simulation.ts";

const SEEDS = 3000;
const MINUTES = 3;
/** As many as a crowded machine plays in the time. */
const LEAST = 100;

Deno.test("[R1] [P6] [C7] [T1] [K9] seeded interleavings keep the invariants: 3,000 seeds or three minutes", async () => {
  const until = performance.now() + MINUTES * 60_000;
  let played = 0;
  for (let seed = 1; seed <= SEEDS && performance.now() < until; seed++) {
    const { findings } = await simulate(seed);
    const said = findings.map(({ rule, what, seq }) => `${rule}: ${what} (event ${seq})`);
    assertEquals(said, [], `seed ${seed}; replay it: deno task sim --seed ${seed} --runs 1 --trace`);
    played++;
  }
  assert(played >= LEAST, `${played} seeds were played`);
});
