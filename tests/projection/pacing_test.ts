import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { input, output, progress, projection, result, texts } from "./frames.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";

/** Runs a tool that writes `size` bytes every `every` ms for `count` times, ticking when due. */
function run(size: number, every: number, count: number, tail = "\n") {
  const editor = new Editor();
  const shown = projection();
  const sentAt: number[] = [];
  const take = (step: ReturnType<typeof shown.tick>, now: number) => {
    editor.take(step);
    for (const _ of step.updates) sentAt.push(now);
  };
  const piece = "x".repeat(size - tail.length) + tail;
  let now = 0;
  for (let seq = 0; seq < count; seq++) {
    const next = now + every;
    take(shown.apply(output("t", seq, piece), now), now);
    for (let due = shown.due; due !== undefined && due < next; due = shown.due) {
      take(shown.tick(Math.max(now, due)), Math.max(now, due));
    }
    now = next;
  }
  const before = editor.lines.length;
  take(shown.apply(result("t", { content: [] }), now), now);
  return {
    editor,
    sentAt,
    produced: size * count,
    last: editor.lines.length - before,
    bytes: editor.bytes("t"),
  };
}

Deno.test("[K8] the first snapshot goes at once, then five a second, and the last always", () => {
  const { sentAt, last, editor } = run(100, 10, 300);
  assertEquals(sentAt[0], 0);
  assertEquals(last, 1);
  for (let second = 0; second < 3000; second += 100) {
    const within = sentAt.slice(1, -1).filter((at) => at >= second && at < second + 1000).length;
    assert(within <= LIMITS.cardSnapshotsPerSecond, `${within} in the second from ${second}`);
  }
  assertEquals(editor.card("t").status, "completed");
});

Deno.test("[K8] a short output is shown as it comes", () => {
  const { sentAt } = run(20, 250, 12);
  assertEquals(sentAt.length, 13);
});

const CHATTY: readonly { name: string; size: number; every: number; count: number }[] = [
  { name: "32 MiB in four seconds", size: 32 * 1024, every: 4, count: 1024 },
  { name: "32 MiB in a minute", size: 32 * 1024, every: 60, count: 1024 },
  { name: "32 MiB in an hour", size: 32 * 1024, every: 3600, count: 1024 },
  { name: "lines of 100 bytes, a hundred a second", size: 100, every: 10, count: 10_000 },
  { name: "lines of 100 bytes, ten a second", size: 100, every: 100, count: 5000 },
  { name: "pieces of 1 KiB, one a second", size: 1024, every: 1000, count: 500 },
];

for (const { name, size, every, count } of CHATTY) {
  Deno.test(`[K8] [A1] a tool that writes ${name} costs the wire at most three times that`, () => {
    const { bytes, produced, editor } = run(size, every, count);
    assert(bytes <= LIMITS.cardWireRatio * produced + 8192, `${bytes} for ${produced}`);
    for (const line of editor.lines) assert(line.length <= LIMITS.cardBytes);
  });
}

Deno.test("[K8] a slow trickle behind a long output sends little, and leaves nothing unseen for long", () => {
  const editor = new Editor();
  const shown = projection();
  let now = 0;
  for (let seq = 0; seq < 20; seq++) {
    editor.take(shown.apply(output("t", seq, `${"y".repeat(2047)}\n`), now += 1));
  }
  editor.take(shown.tick(now += 5000));
  const before = editor.bytes("t");
  let stale = 0;
  let shownAt = now;
  for (let seq = 20; seq < 320; seq++) {
    const step = editor.take(shown.apply(output("t", seq, `line ${seq}\n`), now += 200));
    const ticked = editor.take(shown.tick(now));
    if (step.updates.length + ticked.updates.length > 0) shownAt = now;
    stale = Math.max(stale, now - shownAt);
  }
  const seconds = 60;
  assert(editor.bytes("t") - before < 1024 * seconds, `${editor.bytes("t") - before} bytes in a minute`);
  assert(stale <= 3200, `${stale} ms without a snapshot`);
  editor.take(shown.tick(now += 5000));
  assertStringIncludes(editor.words("t"), "line 319");
  editor.take(shown.apply(output("t", 320, `BEGIN ${"w".repeat(900)} END\n`), now += 200));
  editor.take(shown.tick(now += 5000));
  assertMatch(editor.words("t"), /BEGIN w+ END/, "all that is new is shown, whatever the debt");
});

Deno.test("[K8] the last words before a silence are shown while it lasts", () => {
  const editor = new Editor();
  const shown = projection();
  for (let seq = 0; seq < 30; seq++) editor.take(shown.apply(output("t", seq, "z".repeat(1024)), seq));
  editor.take(shown.apply(output("t", 30, "\nContinue? [y/n] "), 40));
  let now = 40;
  for (let due = shown.due; due !== undefined; due = shown.due) {
    assert(due < 10_000, "it comes to rest");
    now = Math.max(now, due);
    editor.take(shown.tick(now));
  }
  assertStringIncludes(editor.words("t"), "Continue? [y/n]");
});

Deno.test("[K8] what did not change is not sent again", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.tick(500));
  const sent = editor.updates.length;
  editor.take(shown.apply(input("t"), 1000));
  editor.take(shown.tick(2000));
  editor.take(shown.apply(progress("t", "x"), 3000));
  editor.take(shown.apply(progress("t", "x"), 4000));
  editor.take(shown.tick(5000));
  assertEquals(editor.updates.length, sent + 1);
});

Deno.test("[K8] a card presents at most 40 KiB, cut visibly", () => {
  const editor = new Editor();
  const long = Array.from({ length: 20_000 }, (_, at) => `line ${at} "quoted"`).join("\n");
  const raw = { text: "r".repeat(8000) };
  const shown = projection();
  editor.take(
    shown.apply(
      {
        ...input("t", {
          title: "t".repeat(2000),
          raw,
          locations: Array.from({ length: 500 }, (_, at) => ({ path: `/w/${"d".repeat(200)}/${at}` })),
        }),
        meta: { vendor: "v".repeat(12_000) },
      },
      0,
    ),
  );
  editor.take(
    shown.apply(
      result("t", {
        content: [...texts(long, long, "😀".repeat(50_000)), ...texts(...Array<string>(200).fill("item"))],
        diffs: [{ path: "/w/a", oldText: long, newText: `${long}!` }],
        raw,
      }),
      1,
    ),
  );
  for (const line of editor.lines) {
    assert(new TextEncoder().encode(line).length <= LIMITS.cardBytes, `${line.length}`);
  }
  assertStringIncludes(editor.words("t"), "characters not shown]");
  assertStringIncludes(editor.words("t"), "more items not shown]");
  assertStringIncludes(editor.words("t"), "line 0 ");
  assertStringIncludes(editor.words("t"), "line 19999 ");
});
