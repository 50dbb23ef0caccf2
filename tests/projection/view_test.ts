import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Diff, ToolContent, ToolInput, ToolResult } from "../../src/model/tool.ts";
import { input, projection, result, texts } from "./frames.ts";
import { Dice } from "./frames.ts";
import { Editor, type SeenItem } from "./editor.ts";
import { hunksOf } from "../../src/projection/diff.ts";
import { LIMITS } from "../../src/limits.ts";

/** The items of a card that ended with this result. */
function itemsOf(change: Partial<ToolResult>, options: { images?: boolean } = {}): readonly SeenItem[] {
  const editor = new Editor(options);
  editor.take(projection().apply(result("t", { content: [], ...change }), 0));
  return editor.card("t").content ?? [];
}

function lines(count: number, end = "\n", word = "line"): string[] {
  return Array.from({ length: count }, (_, at) => `${word} ${at} of a file that is long${end}`);
}

Deno.test("[K10] a change that fits is shown with both texts, byte for byte", () => {
  const diffs: Diff[] = [
    { path: "/w/a.ts", oldText: "one\r\ntwo\r\n", newText: "one\r\n2\r\n" },
    { path: "/w/new.ts", oldText: null, newText: "new\n" },
    { path: "C:\\w\\a.ts", oldText: "", newText: "x" },
  ];
  assertEquals(itemsOf({ diffs }), diffs.map((diff) => ({ type: "diff", ...diff })));
});

Deno.test("[K10] one changed line of a long CRLF file is one line in the hunk", () => {
  const before = lines(3000, "\r\n");
  const after = before.with(1500, "changed\r\n");
  const [item] = itemsOf({
    diffs: [{ path: "/w/a.ts", oldText: before.join(""), newText: after.join("") }],
  });
  const text = item?.content?.text ?? "";
  assertEquals(text.split("\n").filter((line) => /^[-+](?![-+])/.test(line)), [
    "-line 1500 of a file that is long",
    "+changed",
  ]);
  assertEquals(
    text,
    [
      "```diff",
      "--- /w/a.ts",
      "+++ /w/a.ts",
      "@@ -1498,7 +1498,7 @@",
      ...[1497, 1498, 1499].map((at) => ` line ${at} of a file that is long`),
      "-line 1500 of a file that is long",
      "+changed",
      ...[1501, 1502, 1503].map((at) => ` line ${at} of a file that is long`),
      "```",
    ].join("\n"),
  );
});

Deno.test("[K10] hunks say where they are, what is new, and which line ends changed", () => {
  const cases: { name: string; diff: Diff; says: string }[] = [
    {
      name: "two places",
      diff: {
        path: "/a",
        oldText: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
        newText: "1\nX\n3\n4\n5\n6\n7\n8\n9\n10\n11\nY\nZ\n",
      },
      says: "@@ -1,5 +1,5 @@\n 1\n-2\n+X\n 3\n 4\n 5\n@@ -9,4 +9,5 @@\n 9\n 10\n 11\n-12\n+Y\n+Z\n",
    },
    {
      name: "close places share a hunk",
      diff: { path: "/a", oldText: "1\n2\n3\n4\n5\n", newText: "0\n2\n3\n4\n6\n" },
      says: "@@ -1,5 +1,5 @@\n-1\n+0\n 2\n 3\n 4\n-5\n+6\n",
    },
    { name: "a new file", diff: { path: "/a", oldText: null, newText: "x\n" }, says: "@@ -0,0 +1 @@\n+x\n" },
    {
      name: "an emptied file",
      diff: { path: "/a", oldText: "x\n", newText: "" },
      says: "@@ -1 +0,0 @@\n-x\n",
    },
    {
      name: "a line end",
      diff: { path: "/a", oldText: "x\r\n", newText: "x\n" },
      says: "@@ -1 +1 @@\n-x␍\n+x\n",
    },
    {
      name: "no line end",
      diff: { path: "/a", oldText: "x\n", newText: "x" },
      says: "@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n",
    },
  ];
  for (const { name, diff, says } of cases) {
    const first = diff.oldText === null ? "/dev/null" : "/a";
    assertEquals(hunksOf(diff), `--- ${first}\n+++ /a\n${says}`, name);
  }
});

/** Applies hunks as `patch` does: a hunk that invents or loses a line does not apply. */
function patched(before: string, hunks: string): string {
  const old = before.match(/[^\n]*\n/g) ?? [];
  const made: string[] = [];
  let at = 0;
  for (const line of hunks.split("\n").slice(2, -1)) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (header !== null) {
      const from = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      made.push(...old.slice(at, from));
      at = from;
    } else if (line.startsWith("+")) {
      made.push(`${line.slice(1)}\n`);
    } else {
      assertEquals(old[at++], `${line.slice(1)}\n`);
      if (line.startsWith(" ")) made.push(`${line.slice(1)}\n`);
    }
  }
  return [...made, ...old.slice(at)].join("");
}

Deno.test("[K10] hunks of any change make the new text out of the old one", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const dice = new Dice(seed);
    const old = Array.from({ length: dice.roll(40) }, () => `${dice.roll(6)}\n`);
    const changed = [...old];
    for (let edits = dice.roll(8); edits > 0; edits--) {
      changed.splice(
        dice.roll(changed.length + 1),
        dice.roll(3),
        ...Array(dice.roll(3)).fill(`${dice.roll(6)}\n`),
      );
    }
    const diff = { path: "/a", oldText: old.join(""), newText: changed.join("") };
    assertEquals(patched(diff.oldText, hunksOf(diff)), diff.newText, `seed ${seed}`);
  }
});

Deno.test("[K10] a change of everything takes bounded time and shows both ends", () => {
  const begun = performance.now();
  const [item] = itemsOf({
    diffs: [{ path: "/a", oldText: lines(20_000).join(""), newText: lines(20_000, "\n", "other").join("") }],
  });
  assert(performance.now() - begun < 3000);
  assertMatch(item?.content?.text ?? "", /^```diff\n--- \/a\n\+\+\+ \/a\n@@ -1,20000 \+1,20000 @@\n-line 0 /);
  assertMatch(item?.content?.text ?? "", /characters not shown\][^]*\+other 19999 [^\n]*\n```$/);
});

Deno.test("[K10] paths are absolute: a relative change is text, a relative location is left out", () => {
  const [item] = itemsOf({ diffs: [{ path: "src/a.ts", oldText: "a\n", newText: "b\n" }] });
  assertEquals(item?.type, "content");
  assertStringIncludes(item?.content?.text ?? "", "--- src/a.ts");
  const editor = new Editor();
  const locations = [
    { path: "a.ts", line: 1 },
    { path: "/w/a.ts", line: 0 },
    { path: "/w/b.ts", line: 7 },
    { path: "\\\\server\\share\\c.ts" },
  ];
  editor.take(projection().apply(input("t", { locations }), 0));
  assertEquals(editor.card("t").locations, [
    { path: "/w/a.ts" },
    { path: "/w/b.ts", line: 7 },
    { path: "\\\\server\\share\\c.ts" },
  ]);
});

Deno.test("[K10] kinds, names and exit codes are filled in where known", () => {
  const kinds: ToolInput["kind"][] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
  ];
  for (const kind of kinds) {
    const editor = new Editor();
    editor.take(projection().apply(input("t", { kind }), 0));
    assertEquals([editor.card("t").kind, editor.card("t").name], [kind, "run_command"]);
  }
  for (const exitCode of [0, 1, 137]) {
    assertEquals(itemsOf({ exitCode })[0]?.content?.text, `Exit code ${exitCode}`);
  }
});

Deno.test("[K10] an image goes whole up to its limit, and else as a reference", () => {
  const image = (bytes: number, uri?: string): ToolContent => ({
    kind: "image",
    mimeType: "image/png",
    data: "A".repeat(Math.ceil(bytes / 3) * 4),
    uri,
  });
  const types = (items: readonly SeenItem[]) => items.map((item) => item.content?.type);
  const images = { images: true };
  assertEquals(types(itemsOf({ content: [image(LIMITS.imageBytes - 3)] }, images)), ["image"]);
  assertEquals(types(itemsOf({ content: [image(LIMITS.imageBytes + 3, "file:///w/a.png")] })), [
    "resource_link",
  ]);
  const [said] = itemsOf({ content: [image(LIMITS.imageBytes + 3)] });
  assertMatch(said?.content?.text ?? "", /^\[image not shown: image\/png, 1025 KiB\]$/);
  assertEquals(
    types(itemsOf({ content: [image(600_000), ...texts("x"), image(600_000)] }, images)),
    ["image", "text", "text"],
    "the limit is one for the card",
  );
});

Deno.test("[K10] links and other parts keep their order", () => {
  const items = itemsOf({
    content: [
      ...texts("first", ""),
      { kind: "link", uri: "file:///w/a", name: "a", mimeType: "text/plain" },
      ...texts("last"),
      { kind: "link", uri: `file:///${"x".repeat(60_000)}`, name: "far" },
    ],
  });
  assertEquals(items.map((item) => item.content?.uri ?? item.content?.text), [
    "first",
    "file:///w/a",
    "last",
    "[link too long to show: far]",
  ]);
});

Deno.test("[K8] a long text keeps its beginning and its end and counts what lies between", () => {
  for (const size of [60_000, 400_000]) {
    const text = Array.from({ length: size }, (_, at) => String(at % 10)).join("");
    const [item] = itemsOf({ content: texts(text) });
    const [, head, count, tail] =
      /^(\d+)\n\[(\d+) characters not shown\]\n(\d+)$/.exec(item?.content?.text ?? "") ??
        [];
    assert(head !== undefined && tail !== undefined);
    assertEquals(head.length + tail.length + Number(count), size);
    assert(text.startsWith(head) && text.endsWith(tail));
  }
});
