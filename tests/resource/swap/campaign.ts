/**
 * The long run against the attacker: `deno run -A tests/resource/swap/campaign.ts --tries=100000`. Each shape of attack meets the scope
 * with its re-checks and without them; one outside byte with them fails the run.
 *
 * @module
 */
import { attack, SHAPES } from "./attack.ts";
import { parseArgs } from "@std/cli/parse-args";

const args = parseArgs(Deno.args, { string: ["tries", "shape"], default: { tries: "100000" } });
const tries = Number(args.tries);
let breached = false;
for (const shape of SHAPES) {
  if (args.shape !== undefined && !shape.includes(args.shape)) continue;
  for (const rounds of [undefined, 0]) {
    const outcome = await attack(shape, tries, rounds === undefined ? {} : { rounds });
    breached ||= rounds === undefined && outcome.outside > 0;
    const { micros, ...counts } = outcome;
    // deno-lint-ignore no-console
    console.log(
      JSON.stringify({ shape, rechecks: rounds === undefined, ...counts, micros: Math.round(micros) }),
    );
  }
}
if (breached) Deno.exit(1);
