import { assertEquals, assertStrictEquals } from "@std/assert";
import { Pace } from "../../../src/host/local/pace.ts";
import { ManualClock } from "./world.ts";

/** Counts turns of the loop. */
class CountedClock extends ManualClock {
  turns = 0;

  override turn(): Promise<void> {
    this.turns++;
    return super.turn();
  }
}

const PACES: readonly [string, number, number, number][] = [
  ["63 small calls need none", 63, 1, 0],
  ["64 small calls need one", 64, 1, 1],
  ["640 small calls need ten", 640, 1, 10],
  ["31 KiB need none", 1, 31 * 1024, 0],
  ["32 KiB need one", 1, 32 * 1024, 1],
  ["many large ones need one each", 5, 64 * 1024, 5],
];
for (const [what, calls, units, turns] of PACES) {
  Deno.test(`the event loop gets a turn in time: ${what}`, async () => {
    const clock = new CountedClock();
    const pace = new Pace(clock);
    for (let count = 0; count < calls; count++) await pace.take(units);
    assertEquals(clock.turns, turns);
  });
}

Deno.test("everybody waits for a turn that is due, once", async () => {
  const clock = new CountedClock();
  const pace = new Pace(clock);
  const due = pace.take(64 * 1024);
  assertStrictEquals(pace.take(1), due);
  assertStrictEquals(pace.take(64 * 1024), due);
  await due;
  assertEquals(clock.turns, 1);
});
