import { assert } from "@std/assert";
import { ANSWERS } from "./planted/answers.ts";
import { TOWARD_CLIENT } from "./planted/toward_client.ts";
import { TOWARD_HOST } from "./planted/toward_host.ts";
import { simulate } from "./simulation.ts";

/** Seeds that a planted fault is looked for in. */
const SEEDS = 200;

for (const { what, ids, rules, plant } of [...TOWARD_HOST, ...TOWARD_CLIENT, ...ANSWERS]) {
  Deno.test(`${ids} the simulation reports a program that ${what}`, async () => {
    const told = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      for (const { rule } of (await simulate(seed, plant())).findings) told.add(rule);
      if (rules.some((rule) => told.has(rule))) return;
    }
    assert(false, `${SEEDS} seeds told ${[...told].join(", ") || "nothing"}, not ${rules.join(" or ")}`);
  });
}
