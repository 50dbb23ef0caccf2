import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Bench, type BenchParts, chooses, folder } from "./bench.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";

const FILES = { readTextFile: true, writeTextFile: true };

function editorOf(answers: { [method: string]: Json | Error }): NonNullable<BenchParts["editor"]> {
  return (method) => {
    const answer = answers[method];
    return answer instanceof Error ? Promise.reject(answer) : answer ?? null;
  };
}

async function turn(cwd: string, prompt: string, parts: BenchParts) {
  const bench = await Bench.open({ cwd, person: chooses("allow_once"), ...parts });
  const { sink, outcome } = await bench.run(`${prompt}\n/say went on`);
  assertEquals([outcome.kind, sink.said()], ["completed", "went on"]);
  const result = sink.all("toolResult")[0]?.[2];
  assert(result);
  return {
    sink,
    result,
    calls: sink.all("call").map(([, method, params]): [string, JsonObject] => [method, params]),
  };
}

Deno.test("[K10] files go through the editor where it offers that, with what it has not saved", async () => {
  await using temp = await folder();
  const path = `${temp.path}/a.txt`;
  await Deno.writeTextFile(path, "saved");
  const editor = editorOf({ "fs/read_text_file": { content: "not saved\r\n" } });
  const read = await turn(temp.path, "/read a.txt", { services: FILES, editor });
  assertEquals(read.calls, [["fs/read_text_file", { path }]]);
  assertEquals(read.result.content, [{ kind: "text", text: "not saved\r\n" }]);
  const edit = await turn(temp.path, "/edit a.txt saved => kept", {
    services: FILES,
    editor,
    mode: "accept_edits",
  });
  assertEquals(edit.calls, [
    ["fs/read_text_file", { path }],
    ["fs/write_text_file", { path, content: "not kept\r\n" }],
  ]);
  assertEquals(edit.result.diffs, [{ path, oldText: "not saved\r\n", newText: "not kept\r\n" }]);
  assertEquals(await Deno.readTextFile(path), "saved");
});

Deno.test("[K10] each service is used for itself", async () => {
  await using temp = await folder();
  const path = `${temp.path}/a.txt`;
  await Deno.writeTextFile(path, "disk");
  const editor = editorOf({ "fs/read_text_file": { content: "buffer" } });
  const write = await turn(temp.path, "/write a.txt new", {
    services: { writeTextFile: true },
    editor,
    mode: "accept_edits",
  });
  assertEquals(write.calls, [["fs/write_text_file", { path, content: "new" }]]);
  assertEquals(write.result.diffs[0]?.oldText, "disk");
  const read = await turn(temp.path, "/write a.txt new", {
    services: { readTextFile: true },
    editor,
    mode: "accept_edits",
  });
  assertEquals(read.calls, [["fs/read_text_file", { path }]]);
  assertEquals(read.result.diffs[0]?.oldText, "buffer");
  assertEquals(await Deno.readTextFile(path), "new");
});

Deno.test("[K10] an editor that cannot say what was there gets no invented diff", async () => {
  await using temp = await folder();
  await Deno.writeTextFile(`${temp.path}/there.txt`, "there");
  const editor = editorOf({ "fs/read_text_file": new Error("The buffer is locked") });
  const parts: BenchParts = { services: FILES, editor, mode: "accept_edits" };
  const there = await turn(temp.path, "/write there.txt new", parts);
  assertEquals([there.result.status, there.result.diffs], ["completed", []]);
  const fresh = await turn(temp.path, "/write fresh.txt new", parts);
  assertEquals(fresh.result.diffs, [{ path: `${temp.path}/fresh.txt`, oldText: null, newText: "new" }]);
  const read = await turn(temp.path, "/read there.txt", parts);
  assertEquals(read.result.content, [{ kind: "text", text: "Cannot read there.txt: The buffer is locked" }]);
});

Deno.test("what an editor refuses or answers wrongly fails the card and not the Turn", async () => {
  await using temp = await folder();
  const long = "x".repeat(1024 * 1024 + 1);
  await Deno.writeTextFile(`${temp.path}/a`, "a");
  const cases:
    readonly (readonly [prompt: string, answers: { [method: string]: Json | Error }, words: RegExp])[] = [
      ["/read a", { "fs/read_text_file": null }, /without content/],
      ["/read a", { "fs/read_text_file": { content: 7 } }, /without content/],
      ["/read a", { "fs/read_text_file": { content: long } }, /too long/],
      ["/write a x", {
        "fs/read_text_file": { content: "" },
        "fs/write_text_file": new Error("It is read-only"),
      }, /^Cannot write a: It is read-only$/],
      ["/read ../x", {}, /lies outside/],
      ["/write /etc/x y", {}, /lies outside/],
      ["/run true", { "terminal/create": new Error("No terminals today") }, /No terminals today/],
      ["/run true", { "terminal/create": {} }, /named no terminal/],
    ];
  for (const [prompt, answers, words] of cases) {
    const parts: BenchParts = { services: { ...FILES, terminal: true }, editor: editorOf(answers) };
    const { result, calls } = await turn(temp.path, prompt, parts);
    assertEquals([result.status, result.diffs], ["failed", []]);
    const [shown] = result.content;
    assertMatch(shown?.kind === "text" ? shown.text : "", words);
    assertEquals(calls.map(([method]) => method).filter((method) => !(method in answers)), []);
  }
});

Deno.test({
  name: "an editor serves its files to a Gangway that may not look at the disk, within the Session's folders",
  permissions: "none",
  fn: async () => {
    const editor = editorOf({ "fs/read_text_file": { content: "text" } });
    const parts: BenchParts = { services: FILES, editor, mode: "accept_edits", roots: ["/other"] };
    const read = await turn("/project", "/read /other/a", parts);
    assertEquals(read.result.content, [{ kind: "text", text: "text" }]);
    assertEquals((await turn("/project", "/write b x", parts)).result.status, "completed");
    for (const prompt of ["/read ../a", "/write /otherwise/b x"]) {
      const { result, calls } = await turn("/project", prompt, parts);
      assertStringIncludes(JSON.stringify(result.content), "lies outside");
      assertEquals(calls, []);
    }
  },
});

const TERMINAL = { terminalId: "t1" };

Deno.test("[K10] a command runs in the editor's terminal, which its card shows and which is released", async () => {
  const editor = editorOf({
    "terminal/create": TERMINAL,
    "terminal/wait_for_exit": { exitCode: 3, signal: null },
    "terminal/output": { output: "out\n", truncated: true, exitStatus: { exitCode: 3 } },
  });
  const { sink, result, calls } = await turn("/project", "/run make all", {
    services: { terminal: true },
    editor,
  });
  assertEquals(calls, [
    ["terminal/create", { command: "sh", args: ["-c", "make all"], cwd: "/project", outputByteLimit: 65536 }],
    ["terminal/wait_for_exit", TERMINAL],
    ["terminal/output", TERMINAL],
    ["terminal/release", TERMINAL],
  ]);
  assertEquals(sink.order().slice(0, 5), [
    "toolStart",
    "ask",
    "call terminal/create",
    "toolInput",
    "call terminal/wait_for_exit",
  ]);
  const [start, input] = [sink.all("toolStart")[0]?.[2], sink.all("toolInput")[0]?.[2]];
  assert(start);
  assertEquals(input, { ...start, terminalId: "t1" });
  assertEquals(result, {
    status: "failed",
    exitCode: 3,
    diffs: [],
    content: [{ kind: "terminal", terminalId: "t1" }],
    raw: { output: "out\n", truncated: true, exitCode: 3 },
  });
});

Deno.test("[K10] a terminal is released when the editor fails in the middle", async () => {
  for (const method of ["terminal/wait_for_exit", "terminal/output"]) {
    const editor = editorOf({ "terminal/create": TERMINAL, [method]: new Error("Lost it") });
    const { result, calls } = await turn("/project", "/run make", { services: { terminal: true }, editor });
    assertEquals(result.status, "failed");
    assertEquals(calls.at(-1), ["terminal/release", TERMINAL]);
  }
});

Deno.test("a terminal that a signal ended has no exit code, and a failed release is no failure", async () => {
  const editor = editorOf({
    "terminal/create": TERMINAL,
    "terminal/wait_for_exit": { exitCode: null, signal: "SIGSEGV" },
    "terminal/release": new Error("It is gone"),
  });
  const { result } = await turn("/project", "/run make", { services: { terminal: true }, editor });
  assertEquals([result.status, result.exitCode], ["failed", undefined]);
  assertEquals(result.raw, { output: "", truncated: false, signal: "SIGSEGV" });
});
