import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileSink, lineLog, lineSink } from "../../src/cli/log.ts";
import type { LogLevel } from "../../src/cli/flags.ts";

/** Keeps the lines and nothing else. */
function memorySink() {
  const lines: string[] = [];
  return { lines, line: (text: string) => void lines.push(text), close: () => Promise.resolve() };
}

Deno.test("a log keeps what is severe enough", async (t) => {
  const table: readonly (readonly [LogLevel, readonly string[]])[] = [
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ];
  for (const [level, kept] of table) {
    await t.step(level, () => {
      const sink = memorySink();
      const log = lineLog(sink, level);
      for (const own of ["debug", "info", "warn", "error"] as const) log[own]("said", { at: own });
      assertEquals(sink.lines.map((line) => /"at":"(\w+)"/.exec(line)?.[1]), [...kept]);
    });
  }
});

Deno.test("a line has a time, a level, a sentence and data, and is one line", () => {
  const sink = memorySink();
  lineLog(sink, "info").warn("two\nlines \u001b[31m and colour", { path: "a\nb" });
  assertMatch(
    sink.lines[0] ?? "",
    /^\d{4}-\d\d-\d\dT[\d:.]+Z warn {2}two lines {2}\[31m and colour \{"path":"a\\nb"\}$/,
  );
});

Deno.test("[K2] secrets are taken out of a line's sentence and data", () => {
  const sink = memorySink();
  const key = `sk-ant-${"a1".repeat(12)}`;
  lineLog(sink, "debug").debug(`The agent said ${key}`, { said: [key], password: "hunter2", method: "x" });
  assertEquals(
    sink.lines.some((line) => line.includes(key) || line.includes("hunter2")),
    false,
    sink.lines[0],
  );
  assertMatch(
    sink.lines[0] ?? "",
    /The agent said \[redacted\] \{"said":\["\[redacted\]"\],"password":"\[redacted\]","method":"x"\}$/,
  );
});

Deno.test("[A6] a reader that never reads blocks nobody and costs bounded memory", async () => {
  const never = Promise.withResolvers<number>();
  let written = 0;
  const sink = lineSink({
    write: (bytes) => {
      written++;
      return written === 1 ? never.promise : Promise.resolve(bytes.length);
    },
  });
  const line = "x".repeat(1023);
  for (let count = 0; count < 4096; count++) sink.line(line);
  assertEquals(written, 1, "4 MiB of lines came back at once, with one write under way");
  never.resolve(1024);
  await sink.close();
  assertEquals(written, 256 + 1, "256 KiB were kept, and one line says what was left out");
});

Deno.test("what was left out is counted", async () => {
  const gate = Promise.withResolvers<void>();
  let text = "";
  const sink = lineSink({
    write: async (bytes) => {
      await gate.promise;
      text += new TextDecoder().decode(bytes);
      return bytes.length;
    },
  });
  for (let count = 0; count < 300; count++) sink.line("x".repeat(1023));
  gate.resolve();
  await sink.close();
  assertStringIncludes(text, "44 lines were left out");
});

Deno.test("a writer that fails or takes little by little is no trouble", async () => {
  let text = "";
  const slow = lineSink({
    write: (bytes) => {
      text += String.fromCharCode(bytes[0] ?? 0);
      return Promise.resolve(1);
    },
  });
  slow.line("little");
  await slow.close();
  assertEquals(text, "little\n");
  const broken = lineSink({ write: () => Promise.reject(new Deno.errors.BrokenPipe()) });
  broken.line("gone");
  await broken.close();
  broken.line("still gone");
});

Deno.test("a log file grows at its end and is its owner's alone", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const word of ["one", "two"]) {
      const sink = fileSink(`${folder}/log`);
      sink.line(word);
      await sink.close();
    }
    assertEquals(await Deno.readTextFile(`${folder}/log`), "one\ntwo\n");
    if (Deno.build.os !== "windows") {
      assertEquals(((await Deno.stat(`${folder}/log`)).mode ?? 0) & 0o777, 0o600);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
