import { assertEquals } from "@std/assert";
import { frame, frameFault } from "../../../src/host/wire/frames.ts";
import { pack, unpack } from "../../../src/host/wire/packing.ts";
import { faultOf } from "../../../src/host/wire/shape.ts";
import type { Frame } from "../../../src/model/frame.ts";
import { Random } from "../../sim/random.ts";

const RUN = { turnId: "t", runId: "r" };

/** Frames that come by the thousand, and neighbours of theirs. */
const FRAMES: readonly Frame[] = [
  { type: "message", run: RUN, messageId: "m", channel: "text", offset: 0, text: "ab" },
  { type: "message", run: RUN, messageId: "m", channel: "thinking", offset: 7, text: "", meta: { a: 1 } },
  { type: "tool_output", run: RUN, toolCallId: "x", seq: 0, stream: "stdout", redacted: false, text: "o" },
  {
    type: "tool_output",
    run: RUN,
    toolCallId: "x",
    seq: 3,
    count: 4,
    stream: "stderr",
    redacted: true,
    text: "e",
  },
  { type: "title", title: "T" },
];

/** What a field of a frame may turn into. */
const OTHERS: readonly unknown[] = [
  undefined,
  null,
  -1,
  1.5,
  2 ** 60,
  "",
  "text",
  "stdout",
  true,
  [],
  {},
  RUN,
];

Deno.test("[W2] frames that are looked at by hand are those that the schemas let in, whatever a field turns into", () => {
  let refused = 0;
  for (const given of FRAMES) {
    assertEquals([frameFault(given), faultOf(frame, given)], [undefined, undefined]);
    for (const field of Object.keys(given)) {
      for (const other of OTHERS) {
        const changed = { ...given, [field]: other };
        const fault = faultOf(frame, changed);
        assertEquals(frameFault(changed) === undefined, fault === undefined, JSON.stringify(changed));
        if (fault !== undefined) refused++;
      }
    }
  }
  assertEquals(refused > 200, true, `${refused} were refused`);
});

/** A run of deltas as Engines make them, with all that interrupts them. */
function framesOf(random: Random): Frame[] {
  let offset = 0;
  let seq = 0;
  return Array.from({ length: random.between(1, 30) }, (): Frame => {
    const text = "x".repeat(random.between(0, 4));
    const run = random.chance(0.1) ? { turnId: "t", runId: "q" } : { ...RUN };
    const jump = random.chance(0.1) ? 1 : 0;
    const meta = random.chance(0.1) ? { meta: { a: 1 } } : {};
    const at = offset + jump;
    const number = seq + jump;
    switch (random.weighted([[8, "message"], [4, "output"], [1, "other"]] as const)) {
      case "message":
        offset = at + text.length;
        return {
          type: "message",
          run,
          messageId: random.chance(0.1) ? "n" : "m",
          channel: random.chance(0.1) ? "thinking" : "text",
          offset: at,
          text,
          ...meta,
        };
      case "output": {
        const count = random.chance(0.2) ? { count: random.between(1, 3) } : {};
        seq = number + (count.count ?? 1);
        const stream = random.chance(0.1) ? "stderr" : "stdout";
        return {
          type: "tool_output",
          run,
          toolCallId: random.chance(0.1) ? "y" : "x",
          seq: number,
          stream,
          redacted: random.chance(0.1),
          text,
          ...count,
          ...meta,
        };
      }
      case "other":
        return { type: "title", title: text };
    }
  });
}

Deno.test("[R1] frames come out of a line as they went in, and those that go on are their text alone", () => {
  let short = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const frames = framesOf(new Random(`frames ${seed}`));
    const items = JSON.parse(JSON.stringify(pack(frames)));
    assertEquals(unpack(items), frames, `seed ${seed}`);
    short += items.filter((item: unknown) => typeof item === "string").length;
  }
  assertEquals(short > 500, true, `${short} frames were their text alone`);
});
