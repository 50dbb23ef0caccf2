import { assert, assertEquals } from "@std/assert";
import { type Line, LineSplitter } from "../../src/wire/lines.ts";

const encoder = new TextEncoder();

/** Splits pieces and the end of input. */
function split(limit: number, ...pieces: (string | Uint8Array)[]): Line[] {
  const splitter = new LineSplitter(limit);
  const lines: Line[] = [];
  for (const piece of pieces) {
    lines.push(...splitter.push(typeof piece === "string" ? encoder.encode(piece) : piece));
  }
  const last = splitter.end();
  return last === undefined ? lines : [...lines, last];
}

const texts = (lines: readonly Line[]) =>
  lines.map((line) => line.kind === "text" ? line.text : `(${line.kind})`);

Deno.test("[A7] UTF-8 that is cut at any byte is read right", () => {
  const wanted = ["a😀é€", "𝄞\u0000z"];
  const bytes = encoder.encode(wanted.join("\n") + "\n");
  for (let at = 0; at <= bytes.length; at++) {
    assertEquals(texts(split(100, bytes.slice(0, at), bytes.slice(at))), wanted, `cut at ${at}`);
  }
  assertEquals(texts(split(100, ...Array.from(bytes, (byte) => Uint8Array.of(byte)))), wanted);
});

Deno.test("[A7] line ends, a byte order mark and what has no line end", () => {
  const table: [string[], string[]][] = [
    [["a\nb\n"], ["a", "b"]],
    [["a\n\n\nb\n"], ["a", "", "", "b"]],
    [["\ufeffa\n"], ["a"]],
    [["a"], ["a"]],
    [["a\nb", "c"], ["a", "bc"]],
    [["", "a", "", "\n"], ["a"]],
    [[""], []],
    [["\n"], [""]],
  ];
  for (const [pieces, lines] of table) {
    assertEquals(texts(split(100, ...pieces)), lines, JSON.stringify(pieces));
  }
});

Deno.test("[A7] a line of the limit passes, one byte more is skipped and told once, with its beginning", () => {
  const over = "x".repeat(11);
  const table: [string[], string[]][] = [
    [["1234567890\nb\n"], ["1234567890", "b"]],
    [[over + "\nb\n"], ["(oversize)", "b"]],
    [["12345", "67890", "1", "\n", "b\n"], ["(oversize)", "b"]],
    [[over, over, over + "\nb\n"], ["(oversize)", "b"]],
    [[over, "\n" + over + "\nb"], ["(oversize)", "(oversize)", "b"]],
    [[over], ["(oversize)"]],
    [["é".repeat(5) + "\n", "é".repeat(5) + "a\n"], ["é".repeat(5), "(oversize)"]],
  ];
  for (const [pieces, lines] of table) {
    assertEquals(texts(split(10, ...pieces)), lines, JSON.stringify(pieces));
  }
  assertEquals(split(10, '{"id":1', ',"method":"long"}\nb\n')[0], {
    kind: "oversize",
    head: '{"id":1,"method":"long"}',
  });
});

Deno.test("[A7] an over-long line is told when it passes the limit, before its end comes", () => {
  const splitter = new LineSplitter(10);
  assertEquals([...splitter.push(encoder.encode("12345678901"))].length, 1);
});

Deno.test("[A7] skipping holds no bytes: 64 MiB of one line leave memory where it was", () => {
  const splitter = new LineSplitter(1024 * 1024);
  const chunk = new Uint8Array(1024 * 1024).fill(0x78);
  [...splitter.push(chunk), ...splitter.push(chunk)];
  const before = Deno.memoryUsage().external;
  for (let piece = 0; piece < 64; piece++) assertEquals([...splitter.push(chunk)], []);
  assert(Deno.memoryUsage().external - before < 4 * 1024 * 1024);
  assertEquals(texts([...splitter.push(encoder.encode("\nnext\n"))]), ["next"]);
});
