import { assertEquals, assertGreater } from "@std/assert";
import { attack, type Outcome, SHAPES } from "./attack.ts";

/** Enough to meet every moment of an admission; `campaign.ts` is the long run. */
const TRIES = 3000;
/** Where a busy machine gives the attacker or the scope too little time, more tries make up for it. */
const MOST = 200_000;

/** Those that get through soon enough without the re-checks; the campaign runs all of them. */
const PASSING = SHAPES.filter((shape) => shape.startsWith("folder") && shape.endsWith("outside"));
const LINKS = SHAPES.filter((shape) => shape.endsWith("outside") || shape.endsWith("time"));

for (const shape of LINKS) {
  Deno.test(`[F2] [F5] an attacker that swaps a ${shape} gets no outside byte in`, async () => {
    const outcome = await attack(shape, MOST, {
      enough: ({ tries, inside, outside }) => outside > 0 || tries >= TRIES && inside > 0,
    });
    assertEquals(outcome.outside, 0, JSON.stringify(outcome));
    assertGreater(outcome.inside, 0, JSON.stringify(outcome));
    assertGreater(outcome.swaps, 0, JSON.stringify(outcome));
    assertEquals(outcome.open, 0, "every refusal closes what it opened");
  });
}

for (const shape of PASSING) {
  Deno.test(`[F5] the same attacker, a ${shape}, gets through where the re-checks are off`, async () => {
    const outcome = await attack(shape, MOST, { rounds: 0, enough: ({ outside }) => outside > 0 });
    assertGreater(outcome.outside, 0, JSON.stringify(outcome));
  });
}

Deno.test("[F1] a named pipe that is swapped in at any moment does not hang the process", async () => {
  // In a process of its own: one that hangs cannot stop itself.
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      "--no-check",
      new URL("campaign.ts", import.meta.url).pathname,
      "--shape=pipe",
      `--tries=${TRIES}`,
    ],
    signal: AbortSignal.timeout(60_000),
    stderr: "null",
  }).output();
  const outcomes: Outcome[] = new TextDecoder().decode(stdout).trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  assertEquals([success, outcomes.map(({ tries, outside }) => [tries, outside])], [true, [[TRIES, 0], [
    TRIES,
    0,
  ]]]);
});
