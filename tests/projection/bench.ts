/**
 * What the projection costs: `deno bench -A tests/projection/bench.ts`.
 *
 * @module
 */
import { ALL, delta, output, projection, record, result, textRow, toolRow } from "./frames.ts";
import { Replay } from "../../src/projection/mod.ts";

const DELTAS = Array.from({ length: 10_000 }, (_, at) => delta("message", at * 16, "hello world, ok\n"));
const PIECES = Array.from({ length: 1024 }, (_, seq) => output("t", seq, `${"x".repeat(127)}\n`.repeat(256)));
const ROWS = Array.from(
  { length: 10_000 },
  (_, at) =>
    at % 4 === 0
      ? toolRow(record(`c${at}`, { exitCode: 0 }))
      : textRow(`m${at}`, "A sentence of some length that an agent could have said. "),
);

Deno.bench("10,000 deltas of 16 bytes", () => {
  const shown = projection();
  for (const frame of DELTAS) shown.apply(frame, 0);
});

Deno.bench("a tool that writes 32 MiB in ten seconds", () => {
  const shown = projection();
  let now = 0;
  for (const frame of PIECES) {
    shown.apply(frame, now += 10);
    if ((shown.due ?? Infinity) <= now) shown.tick(now);
  }
  shown.apply(result("t", { content: [] }), now);
});

Deno.bench("a replay of 10,000 rows", () => {
  const replay = new Replay({ abilities: ALL, live: [] });
  for (const row of ROWS) replay.read(row, 0);
  replay.end();
});
