import { assert, assertEquals, assertGreater } from "@std/assert";
import { delta, input, projection, result, RUN, texts } from "./frames.ts";
import { commandsUpdate } from "../../src/projection/mod.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";
import { LiveOutput } from "../../src/projection/output.ts";

/** Three bytes a character, so that what counts characters takes three times the room. */
const wide = (length: number) => "語".repeat(length);
const encoder = new TextEncoder();

Deno.test("[A1] what is short in characters and long in bytes is split or cut by its bytes", () => {
  const entries = Array.from({ length: 40 }, () => ({
    content: wide(LIMITS.commandLength),
    priority: "low" as const,
    status: "pending" as const,
  }));
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(delta("m", 0, wide(20_000)), 0));
  assertEquals([editor.updates.length, editor.text("m")], [2, wide(20_000)]);
  editor.take(shown.apply({ type: "plan", run: RUN, entries }, 0));
  editor.take(shown.apply(result("t", { content: texts(wide(20_000)) }), 0));
  const commands = entries.map((_, at) => ({ name: `c${at}`, description: wide(LIMITS.commandLength) }));
  for (const update of commandsUpdate(commands)) editor.receive(update);
  assertEquals(editor.updates.length, 5);
});

Deno.test("[K8] a card whose every member is large takes at most 40 KiB, and its content keeps its room", () => {
  const half = "x".repeat(LIMITS.rawBytes - 100);
  const locations = Array.from({ length: 64 }, (_, at) => ({ path: `/${"d".repeat(200)}/${at}` }));
  const editor = new Editor();
  const shown = projection();
  const meta = { vendor: { text: "y".repeat(7000) } };
  editor.take(shown.apply({ ...input("t", { raw: { half }, locations }), meta }, 0));
  editor.take(
    shown.apply({ ...result("t", { raw: { half }, content: texts("z".repeat(100_000)) }), meta }, 0),
  );
  for (const line of editor.lines) {
    assert(encoder.encode(line).length <= LIMITS.cardBytes, `${encoder.encode(line).length} bytes`);
  }
  assertGreater(encoder.encode(JSON.stringify(editor.card("t").content)).length, 15 * 1024);
});

Deno.test("[K5] what a card drops of the middle of a piece is counted like whole pieces", () => {
  const output = new LiveOutput();
  for (let seq = 0; seq < 5; seq++) output.push(seq, "x".repeat(30_000));
  assertEquals([output.length, output.dropped], [LIMITS.cardLength, 150_000 - LIMITS.cardLength]);
});
