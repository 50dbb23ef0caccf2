import { assert, assertEquals } from "@std/assert";
import { delta, input, output, projection, result, start, texts } from "./frames.ts";
import type { Step } from "../../src/projection/mod.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";

Deno.test("[K6] 4096 tools with 1 Mi characters are shown, and the next tool fails the prompt on purpose", () => {
  const editor = new Editor();
  const shown = projection();
  const text = "c".repeat(LIMITS.promptToolLength / LIMITS.promptTools);
  for (let at = 0; at < LIMITS.promptTools; at++) {
    editor.take(shown.apply(input(`t${at}`), at));
    const step = editor.take(shown.apply(result(`t${at}`, { content: texts(text) }), at));
    assertEquals(step.fault, undefined);
  }
  const step = editor.take(shown.apply(start("more"), 9999));
  assertEquals(step.fault?.code, "tool_presentation_capacity");
  assertEquals(editor.cards.size, LIMITS.promptTools);
  for (
    const later of [
      shown.apply(delta("m", 0, "x"), 0),
      shown.tick(0),
      shown.finish({ how: "interrupted" }, 0),
    ]
  ) {
    assertEquals(later.updates.length, 0);
  }
  assertEquals(shown.apply(delta("m", 0, "x"), 0).fault?.code, "tool_presentation_capacity");
});

Deno.test("[K6] one character above 1 Mi fails the prompt on purpose, and no card stays open", () => {
  const editor = new Editor();
  const shown = projection();
  let step: Step | undefined;
  const cards = LIMITS.promptToolLength / LIMITS.cardLength;
  for (let at = 0; at < cards; at++) {
    step = editor.take(shown.apply(output(`t${at}`, 0, "o".repeat(LIMITS.cardLength)), at));
    assertEquals(step.fault, undefined);
  }
  step = editor.take(shown.apply(output("last", 0, "o"), cards));
  assertEquals(step.fault?.code, "tool_presentation_capacity");
  for (const card of editor.cards.values()) assertEquals(card.status, "failed");
});

Deno.test("[K6] one chatty tool, or a result that repeats its output, counts only what a card keeps", () => {
  const shown = projection();
  for (let seq = 0; seq < 64; seq++) {
    assertEquals(shown.apply(output("t", seq, "o".repeat(LIMITS.cardLength)), seq).fault, undefined);
  }
  for (let at = 0; at < LIMITS.promptToolLength / LIMITS.cardLength - 1; at++) {
    const text = "r".repeat(LIMITS.cardLength);
    shown.apply(output(`t${at}`, 0, text), at);
    assertEquals(shown.apply(result(`t${at}`, { content: texts(text) }), at).fault, undefined);
  }
});

Deno.test("[K6] a prompt's cards take at most 64 MiB, and ended ones keep only digests", () => {
  const shown = projection();
  let bytes = 0;
  const text = "c".repeat(LIMITS.promptToolLength / LIMITS.promptTools);
  const before = Deno.memoryUsage().heapUsed;
  for (let at = 0; at < LIMITS.promptTools; at++) {
    // Distinct strings, so that the engine cannot share them.
    const own = `${at} ${text}`.slice(0, text.length);
    bytes += shown.apply(output(`t${at}`, 0, own), at).updates.length;
    bytes += shown.apply(result(`t${at}`, { content: texts(own) }), at).updates.length;
  }
  assert(bytes > 0);
  assert(Deno.memoryUsage().heapUsed - before < 64 * 1024 * 1024);
});
