import { assert, assertEquals, assertMatch } from "@std/assert";
import { Bench, type BenchParts, folder, namesIn } from "./bench.ts";
import type { Diff, ToolInput, ToolResult } from "../../src/model/tool.ts";
import type { RecordingSink } from "./sink.ts";

/** The one card of a Turn: its last input and its result. */
function cardOf(sink: RecordingSink): { input: ToolInput; result: ToolResult } {
  const inputs = sink.entries.flatMap((entry) =>
    entry[0] === "toolStart" || entry[0] === "toolInput" ? [entry[2]] : []
  );
  const results = sink.all("toolResult");
  assertEquals([sink.all("toolStart").length, results.length], [1, 1]);
  const [input, result] = [inputs.at(-1), results[0]?.[2]];
  assert(input && result);
  return { input, result };
}

const words = (result: ToolResult) =>
  result.content.map((piece) => piece.kind === "text" ? piece.text : piece.kind).join("");

async function card(cwd: string, prompt: string, parts: BenchParts = {}) {
  const bench = await Bench.open({ cwd, mode: "accept_edits", ...parts });
  const { sink, outcome } = await bench.run(`${prompt}\n/say went on`);
  return { ...cardOf(sink), outcome, said: sink.said() };
}

Deno.test("[K10] reading shows kind, absolute path and the text as it is", async () => {
  await using temp = await folder();
  await Deno.writeTextFile(`${temp.path}/a b.txt`, "\ufeffone\r\ntwo\n");
  const { input, result, said } = await card(temp.path, '/read "./x/../a b.txt"');
  assertEquals(input, {
    complete: true,
    sensitive: false,
    title: "Read a b.txt",
    kind: "read",
    locations: [{ path: `${temp.path}/a b.txt` }],
    name: "read_file",
    raw: { path: `${temp.path}/a b.txt` },
  });
  assertEquals(result, {
    status: "completed",
    content: [{ kind: "text", text: "\ufeffone\r\ntwo\n" }],
    diffs: [],
  });
  assertEquals(said, "went on");
});

interface ChangeCase {
  readonly before: string | Uint8Array | null;
  readonly prompt: string;
  readonly after: string;
  readonly diff: Omit<Diff, "path"> | null;
  readonly line?: number;
}

const CHANGES: { readonly [title: string]: ChangeCase } = {
  "a new file": {
    before: null,
    prompt: "/write a.txt x\\n",
    after: "x\n",
    diff: { oldText: null, newText: "x\n" },
  },
  "a file written over": {
    before: "old",
    prompt: "/write a.txt new",
    after: "new",
    diff: { oldText: "old", newText: "new" },
  },
  "one line of a CRLF file": {
    before: "\ufeffa\r\nb\r\nc\r\n",
    prompt: "/edit a.txt b => B",
    after: "\ufeffa\r\nB\r\nc\r\n",
    diff: { oldText: "\ufeffa\r\nb\r\nc\r\n", newText: "\ufeffa\r\nB\r\nc\r\n" },
    line: 2,
  },
  "text with the patterns of replacing": {
    before: "one\ntwo\nthree",
    prompt: "/edit a.txt three => $& $1",
    after: "one\ntwo\n$& $1",
    diff: { oldText: "one\ntwo\nthree", newText: "one\ntwo\n$& $1" },
    line: 3,
  },
  "over what is no text, without inventing one": {
    before: new Uint8Array([0xff, 0xfe, 0x00]),
    prompt: "/write a.txt new",
    after: "new",
    diff: null,
  },
};

for (const [title, { before, prompt, after, diff, line }] of Object.entries(CHANGES)) {
  Deno.test(`[K10] a change has its whole diff and its place: ${title}`, async () => {
    await using temp = await folder();
    const path = `${temp.path}/a.txt`;
    if (typeof before === "string") await Deno.writeTextFile(path, before);
    else if (before !== null) await Deno.writeFile(path, before);
    const { input, result } = await card(temp.path, prompt);
    assertEquals(result.status, "completed");
    assertEquals(result.diffs, diff === null ? [] : [{ path, ...diff }]);
    assertEquals(input.kind, "edit");
    assertEquals(input.locations, [line === undefined ? { path } : { path, line }]);
    assertEquals(await Deno.readTextFile(path), after);
  });
}

Deno.test("[K10] writing makes the folders above a file, and a root is as good as the working directory", async () => {
  await using temp = await folder();
  await using root = await folder();
  const path = `${root.path}/a/b/c.txt`;
  const { result } = await card(temp.path, `/write ${path} x`, { roots: [root.path] });
  assertEquals([result.status, result.diffs], ["completed", [{ path, oldText: null, newText: "x" }]]);
  assertEquals(await Deno.readTextFile(path), "x");
});

Deno.test("a path is judged by where it leads", async (t) => {
  await using temp = await folder();
  await using other = await folder();
  await Deno.writeTextFile(`${other.path}/secret`, "secret");
  await Deno.symlink(other.path, `${temp.path}/way`);
  await Deno.symlink(`${other.path}/new`, `${temp.path}/dangling`);
  await Deno.symlink("loop", `${temp.path}/loop`);
  await Deno.mkdir(`${temp.path}/sub`);
  await Deno.writeTextFile(`${temp.path}/sub/f`, "fine");
  await Deno.symlink("sub/f", `${temp.path}/inside`);
  await Deno.writeTextFile(`${temp.path}/..odd`, "odd");
  await new Deno.Command("mkfifo", { args: [`${temp.path}/pipe`] }).output();
  const cases: readonly (readonly [prompt: string, words: RegExp])[] = [
    [`/read ${other.path}/secret`, /lies outside of the Session's folders/],
    ["/read ../x", /lies outside/],
    ["/read way/secret", /^way\/secret lies outside/],
    ["/write way/new x", /lies outside/],
    ["/write way/deep/new x", /lies outside/],
    ["/edit way/secret s => t", /lies outside/],
    ["/write dangling x", /^dangling goes through a link to what does not exist$/],
    ["/write dangling/x x", /^dangling\/x goes through a link to what does not exist$/],
    ["/read loop", /^Cannot read loop: /],
    ["/read pipe", /pipe is not a regular file/],
    ["/write pipe x", /pipe is not a regular file/],
    ["/read sub", /sub is a folder/],
    ["/write sub x", /sub is a folder/],
    ["/read .", /is a folder/],
    ["/read sub/f/x", /^Cannot read sub\/f\/x: /],
    ["/read nope", /^Cannot read nope: it does not exist$/],
    ["/edit nope a => b", /^Cannot read nope: it does not exist$/],
    ["/edit sub/f x => y", /does not hold the text/],
    ["/edit ..odd d => y", /more than once/],
  ];
  for (const [prompt, sentence] of cases) {
    await t.step(prompt, async () => {
      const { result, outcome, said } = await card(temp.path, prompt);
      assertEquals(result.status, "failed");
      assertMatch(words(result), sentence);
      assertEquals(result.diffs, []);
      assertEquals([outcome.kind, said], ["completed", "went on"]);
    });
  }
  for (const prompt of ["/read inside", "/read ..odd"]) {
    await t.step(
      prompt,
      async () => assertEquals((await card(temp.path, prompt)).result.status, "completed"),
    );
  }
  assertEquals(await namesIn(other.path), ["secret"]);
  assertEquals(await Deno.readTextFile(`${other.path}/secret`), "secret");
});

Deno.test("a file that is too long or no text is not shown by halves", async () => {
  await using temp = await folder();
  await Deno.writeFile(`${temp.path}/long`, new Uint8Array(1024 * 1024 + 1).fill(97));
  await Deno.writeFile(`${temp.path}/most`, new Uint8Array(1024 * 1024).fill(97));
  await Deno.writeFile(`${temp.path}/binary`, new Uint8Array([0xff, 0xfe]));
  await Deno.writeFile(`${temp.path}/empty`, new Uint8Array());
  const shown = async (prompt: string) => words((await card(temp.path, prompt)).result);
  assertEquals(await shown("/read long"), "long is too long: 1048577 bytes, and the workbench takes 1048576");
  assertEquals((await shown("/read most")).length, 1024 * 1024);
  assertEquals(await shown("/read binary"), "2 bytes that are not text");
  assertEquals(await shown("/edit binary a => b"), "binary is not text");
  assertEquals((await card(temp.path, "/read empty")).result.content, []);
});

Deno.test("[K10] a file that changed while a person thought is changed as it is now", async () => {
  await using temp = await folder();
  const path = `${temp.path}/a.txt`;
  await Deno.writeTextFile(path, "one\ntwo\n");
  const { input, result } = await card(temp.path, "/edit a.txt two => 2", {
    mode: "ask",
    person: async () => {
      await Deno.writeTextFile(path, "zero\none\ntwo\n");
      return { kind: "option", optionId: "allow_once" };
    },
  });
  assertEquals(result.diffs, [{ path, oldText: "zero\none\ntwo\n", newText: "zero\none\n2\n" }]);
  assertEquals(input.locations, [{ path, line: 3 }]);
  assertEquals(await Deno.readTextFile(path), "zero\none\n2\n");
});

// Each permission that a step needs is missing once; the sentence has to name the flag that gives it.
const FLAGS: readonly (readonly [prompt: string, permissions: Deno.PermissionOptionsObject, flag: string])[] =
  [
    ["/read a.txt", { read: false, write: true }, "--allow-read=FOLDER"],
    ["/write a.txt x", { read: false, write: true }, "--allow-read=FOLDER"],
    ["/write a.txt x", { read: true, write: false }, "--allow-write=FOLDER"],
    ["/write new/a.txt x", { read: true, write: false }, "--allow-write=FOLDER"],
    ["/run echo hi", { read: true, write: true, run: false }, "--allow-run=sh"],
    ["/run echo hi", { read: true, write: true, run: ["/bin/false"] }, "--allow-run=sh"],
  ];

for (const [prompt, permissions, flag] of FLAGS) {
  Deno.test({
    name: `a missing permission is named by its flag: ${prompt} wants ${flag} (${
      JSON.stringify(permissions)
    })`,
    permissions,
    fn: async () => {
      // The folder of this test: it exists, and nothing may be made in it.
      const { result, said } = await card(import.meta.dirname ?? "/", prompt, {
        mode: prompt.startsWith("/run") ? "ask" : "accept_edits",
        person: () => ({ kind: "option", optionId: "allow_once" }),
      });
      assertEquals(result.status, "failed");
      assertMatch(words(result), new RegExp(`no permission to .* start Gangway with ${flag}`));
      assertEquals(said, "went on");
    },
  });
}
