import { assert, assertEquals, assertMatch } from "@std/assert";
import { Bench, type BenchParts, chooses, folder } from "./bench.ts";
import { gone } from "./gone.ts";

async function run(cwd: string, command: string, parts: BenchParts = {}) {
  const bench = await Bench.open({ cwd, person: chooses("allow_once"), ...parts });
  const { sink, outcome } = await bench.run(`/run ${command}`);
  assertEquals(outcome, { kind: "completed", stopReason: "end_turn" });
  const result = sink.all("toolResult")[0]?.[2];
  assert(result);
  return { sink, result };
}

Deno.test("[K10] a command shows its kind, both outputs and its exit code", async () => {
  await using temp = await folder();
  const { sink, result } = await run(temp.path, "pwd; printf 'n\\303\\266\\n' >&2; exit 7");
  assertEquals(sink.all("toolStart")[0]?.[2], {
    complete: true,
    sensitive: false,
    title: "Run pwd; printf 'n\\303\\266\\n' >&2; exit 7",
    kind: "execute",
    locations: [],
    name: "run_command",
    raw: { command: "pwd; printf 'n\\303\\266\\n' >&2; exit 7", cwd: temp.path },
  });
  const output = (stream: string) =>
    sink.all("toolOutput").filter((entry) => entry[2] === stream).map((entry) => entry[3]).join("");
  assertEquals([output("stdout"), output("stderr")], [`${temp.path}\n`, "nö\n"]);
  assertEquals([result.status, result.exitCode, result.diffs], ["failed", 7, []]);
  const [shown] = result.content;
  assert(shown?.kind === "text");
  assertEquals(shown.text.split("\n").sort(), ["", "nö", temp.path].sort());
});

Deno.test("[K10] a silent success has exit code 0 and no content; a signal is named", async () => {
  await using temp = await folder();
  const silent = await run(temp.path, "true");
  assertEquals(silent.result, { status: "completed", exitCode: 0, content: [], diffs: [] });
  const killed = await run(temp.path, "kill -TERM $$");
  assertEquals(killed.result.status, "failed");
  assertEquals(killed.result.exitCode, undefined);
  assertEquals(killed.result.content, [{ kind: "text", text: "[ended by SIGTERM]\n" }]);
});

Deno.test("[K10] output streams while the command works", async () => {
  await using temp = await folder();
  await new Deno.Command("mkfifo", { args: [`${temp.path}/go`] }).output();
  const bench = await Bench.open({ cwd: temp.path, person: chooses("allow_once") });
  const { sink, outcome } = bench.start("/run echo first; cat go");
  await sink.when((entry) => entry[0] === "toolOutput");
  assertEquals(sink.all("toolResult"), []);
  // Only now the command can go on.
  await Deno.writeTextFile(`${temp.path}/go`, "second\n");
  await outcome;
  assertEquals(sink.all("toolOutput").map(([, , , text]) => text), ["first\n", "second\n"]);
});

Deno.test("[K10] a character cut in two by the pipe stays whole", async () => {
  await using temp = await folder();
  await new Deno.Command("mkfifo", { args: [`${temp.path}/go`] }).output();
  const bench = await Bench.open({ cwd: temp.path, person: chooses("allow_once") });
  const { sink, outcome } = bench.start("/run printf 'a\\303'; cat go; printf '\\266'; printf '\\303'");
  await sink.when((entry) => entry[0] === "toolOutput");
  await Deno.writeTextFile(`${temp.path}/go`, "");
  await outcome;
  assertEquals(sink.all("toolOutput").map(([, , , text]) => text).join(""), "aö\ufffd");
});

Deno.test("a long output ends in the result cut from its beginning, and none of it is lost on the way", async () => {
  await using temp = await folder();
  const { sink, result } = await run(temp.path, "yes 0123456 | head -c 3000000");
  assertEquals(sink.all("toolOutput").reduce((sum, entry) => sum + entry[3].length, 0), 3_000_000);
  const [shown] = result.content;
  assert(shown?.kind === "text");
  assertMatch(shown.text, /^\[2934464 earlier characters left out\]\n0123456\n/);
});

Deno.test("a command reads nothing and what it leaves behind ends with it", async () => {
  await using temp = await folder();
  const { sink, result } = await run(temp.path, "cat; sleep 1000 & echo $!");
  assertEquals(result.status, "completed");
  await gone([Number(sink.all("toolOutput")[0]?.[3])]);
});

Deno.test("whoever moved away and holds the output does not hold the Turn", async () => {
  await using temp = await folder();
  const { sink, result } = await run(temp.path, "setsid sleep 1000 & echo $!");
  const pid = Number(sink.all("toolOutput")[0]?.[3]);
  Deno.kill(pid, "SIGKILL");
  await gone([pid]);
  assertEquals(result.exitCode, 0);
});

Deno.test("a working directory that is gone is a sentence", async () => {
  const { result } = await run("/nowhere/at/all", "true");
  const [shown] = result.content;
  assert(shown?.kind === "text");
  assertEquals(result.status, "failed");
  assertMatch(shown.text, /^Cannot run sh in \/nowhere\/at\/all: one of the two does not exist$/);
});

Deno.test("a sink that fails leaves no command behind", async () => {
  await using temp = await folder();
  const { runShell } = await import("../../src/engine/workbench/process.ts");
  const pids: number[] = [];
  const message = await runShell({
    command: "echo $$; sleep 1000",
    cwd: temp.path,
    signal: new AbortController().signal,
    output: (_, text) => {
      pids.push(Number(text));
      return Promise.reject(new Error("The store is full"));
    },
  }).then(() => "nothing", (error: Error) => error.message);
  assertEquals(message, "The store is full");
  await gone(pids);
});
