import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BARE, output, projection, record, result, toolRow } from "./frames.ts";
import { fenced, LiveOutput, plainText } from "../../src/projection/output.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";

/** What a card shows of outputs, all within one moment and then ended. */
function shownOf(pieces: readonly (readonly [seq: number, text: string])[]): string {
  const editor = new Editor();
  const shown = projection();
  for (const [seq, text] of pieces) editor.take(shown.apply(output("t", seq, text), 0));
  editor.take(shown.apply(result("t", { content: [] }), 0));
  return editor.words("t").replace(/^`{3,}\n|\n`{3,}$/g, "");
}

Deno.test("[K5] a card keeps the last 512 pieces and counts what it dropped", () => {
  const pieces = Array.from({ length: LIMITS.cardChunks + 3 }, (_, seq) => [seq, `line ${seq}\n`] as const);
  const text = shownOf(pieces);
  assert(text.startsWith("[21 earlier characters not shown]\nline 3\n"), text.slice(0, 80));
  assert(text.endsWith(`line ${LIMITS.cardChunks + 2}`));
  assertEquals(shownOf(pieces.slice(0, LIMITS.cardChunks)).split("\n").length, LIMITS.cardChunks);
});

Deno.test("[K5] a card keeps the last 64 Ki characters, shows what fits of them and counts all the rest", () => {
  const total = 3 * LIMITS.cardLength;
  const lines = Array.from({ length: total / 16 }, (_, at) => `${String(at).padStart(15, "0")}\n`);
  const pieces = lines.map((_, at) => at).filter((at) => at % 1024 === 0)
    .map((at, seq) => [seq, lines.slice(at, at + 1024).join("")] as const);
  const text = shownOf(pieces);
  const [, hidden, kept] = /^\[(\d+) earlier characters not shown\]\n([^]*)$/.exec(text) ?? [];
  assertEquals(Number(hidden) + (kept?.length ?? 0) + 1, total, "every character is shown or counted");
  assert(lines.join("").endsWith(`${kept}\n`));
  assert((kept?.length ?? 0) > LIMITS.cardBytes * 0.85);
});

Deno.test("[K5] no more is kept than is counted as kept", () => {
  const kept = new LiveOutput();
  for (let seq = 0; seq < 300; seq++) {
    kept.push(seq, "0123456789".repeat(1 + seq));
    assert(kept.length <= LIMITS.cardLength);
    assertEquals([kept.text().length, kept.total - kept.dropped], [kept.length, kept.length]);
  }
  assertEquals(kept.length, LIMITS.cardLength);
});

Deno.test("[K5] one piece longer than what is kept is cut and counted", () => {
  const text = shownOf([[0, "x".repeat(100_000) + "end\n"]]);
  const hidden = Number(/^\[(\d+) /.exec(text)?.[1]);
  assertEquals(hidden + text.length - text.indexOf("\n"), 100_004);
});

Deno.test("[K5] pieces that came before are ignored and pieces that never came are marked", () => {
  assertEquals(shownOf([[0, "a\n"], [0, "a\n"], [1, "b\n"], [0, "again\n"]]), "a\nb");
  assertEquals(shownOf([[0, "a\n"], [3, "d\n"]]), "a\n\n[2 pieces of output missing]\nd");
  assertEquals(shownOf([[1, "b\n"]]), "\n[1 piece of output missing]\nb");
});

Deno.test("[K5] a recorded output keeps the count of what the Host dropped", () => {
  const editor = new Editor();
  const shown = projection();
  const tool = record("t", { content: [] }, { output: { text: "tail\n", dropped: 1000 } });
  editor.take(shown.read(toolRow(tool), 0));
  assertStringIncludes(editor.words("t"), "[1000 earlier characters not shown]\ntail");
});

Deno.test("[K2] output that the Host withheld is said to be withheld", () => {
  const editor = new Editor();
  editor.take(projection(BARE).apply(output("t", 0, "", true), 0));
  assertStringIncludes(editor.words("t"), "[redacted]");
});

Deno.test("[K1] output is a code block that its text cannot end", () => {
  for (const text of ["plain", "a ``` b", "````\n`````", "~~~"]) {
    const block = fenced(text);
    const fence = /^`+/.exec(block)?.[0] ?? "";
    assertEquals(block, `${fence}\n${text}\n${fence}`);
    assert(!text.includes(fence));
  }
});

Deno.test("[K1] output is shown as a terminal leaves it", () => {
  const cases: [string, string][] = [
    ["plain\n", "plain\n"],
    ["\x1b[31mred\x1b[0m\n", "red\n"],
    ["\x1b]0;title\x07text", "text"],
    ["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["10%\r50%\r100%\ndone", "100%\ndone"],
    ["10%\r50%\r", "50%"],
    ["a\x00\x07b\x7f", "ab"],
    ["tab\tstays", "tab\tstays"],
  ];
  for (const [raw, plain] of cases) assertEquals(plainText(raw), plain);
  const long = "x".repeat(LIMITS.cardLength) + "\r";
  const begun = performance.now();
  plainText(long);
  assert(performance.now() - begun < 500, "not quadratic");
});
