import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { Bench, type BenchParts, chooses } from "./bench.ts";
import type { EngineOutcome } from "../../src/engine/contract.ts";
import type { Entry } from "./sink.ts";
import { digestOf } from "../../src/model/digest.ts";
import type { ToolInput } from "../../src/model/tool.ts";

const END: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

const tool = (title: string, name: string, raw: { [key: string]: number }): ToolInput => ({
  complete: true,
  sensitive: false,
  title,
  kind: "other",
  locations: [],
  name,
  raw,
});
const plan = (...states: ("completed" | "in_progress" | "pending")[]): Entry => [
  "plan",
  states.map((status, index) => ({ content: "ABC"[index] ?? "", priority: "medium", status })),
];

interface Case {
  readonly prompt: string;
  readonly entries: readonly Entry[];
  readonly outcome?: EngineOutcome;
  readonly parts?: BenchParts;
}

const CASES: readonly Case[] = [
  {
    prompt: "/say one\n/say two",
    entries: [
      ["message", "run1-1", "text", "one"],
      ["messageComplete", "run1-1"],
      ["message", "run1-2", "text", "two"],
      ["messageComplete", "run1-2"],
    ],
  },
  {
    prompt: "/think 👩‍👩‍👧",
    entries: [["message", "run1-1", "thinking", "👩‍👩‍👧"], ["messageComplete", "run1-1"]],
  },
  {
    prompt: "/emit 2 28",
    entries: [
      ["message", "run1-1", "text", "abcdefghijklmnopqrstuvwxyzab"],
      ["message", "run1-1", "text", "abcdefghijklmnopqrstuvwxyzab"],
      ["messageComplete", "run1-1"],
    ],
  },
  {
    prompt: "/plan A | B\n/sleep 0\n/sleep 0\n/sleep 0\n/sleep 0",
    entries: [
      plan("in_progress", "pending"),
      plan("completed", "in_progress"),
      plan("completed", "completed"),
    ],
  },
  {
    prompt: "/plan A | B | C\n/sleep 0",
    entries: [plan("in_progress", "pending", "pending"), plan("completed", "completed", "completed")],
  },
  { prompt: "/plan A", entries: [plan("in_progress")] },
  {
    prompt: "/plan A | B\n/sleep 0\n/fail No",
    entries: [plan("in_progress", "pending"), plan("completed", "in_progress")],
    outcome: { kind: "failed", failure: { class: "engine", message: "No" } },
  },
  { prompt: "/usage 10 100", entries: [["usage", { used: 10, size: 100 }]] },
  {
    prompt: "/fail It broke\n/say never",
    entries: [],
    outcome: { kind: "failed", failure: { class: "engine", message: "It broke" } },
  },
  ...(["end_turn", "max_tokens", "max_turn_requests", "refusal"] as const).map((stopReason): Case => ({
    prompt: `/stop ${stopReason}\n/say never`,
    entries: [],
    outcome: { kind: "completed", stopReason },
  })),
  {
    prompt: "/rewrite better",
    entries: [
      ["message", "run1-1", "text", "This was said too early and is taken back."],
      ["messageReset", "run1-1"],
      ["message", "run1-1", "text", "better"],
      ["messageComplete", "run1-1"],
    ],
  },
  {
    prompt: "/tools 2",
    entries: [1, 2].flatMap((number): Entry[] => [
      ["toolStart", `run1-${number}`, tool(`Tool ${number}`, "tool", { number })],
      ["toolResult", `run1-${number}`, {
        status: "completed",
        content: [{ kind: "text", text: `Tool ${number} is done` }],
        diffs: [],
      }],
    ]),
  },
  {
    prompt: "/ask Which? | Red | Green",
    parts: { person: chooses("2") },
    entries: [
      ["ask", {
        kind: "question",
        message: "Which?",
        options: [{ optionId: "1", name: "Red" }, { optionId: "2", name: "Green" }],
      }],
      ["message", "run1-1", "text", "You chose: Green"],
      ["messageComplete", "run1-1"],
    ],
  },
  {
    prompt: "/form name:boolean",
    parts: { person: () => ({ kind: "values", values: { name: true, more: ["a"] } }) },
    entries: [
      ["ask", {
        kind: "form",
        message: "Please fill in these values.",
        options: [],
        fields: [{ name: "name", required: true, type: "boolean", default: undefined }],
      }],
      ["message", "run1-1", "text", 'You filled in:\n- name: true\n- more: ["a"]'],
      ["messageComplete", "run1-1"],
    ],
  },
];

for (const { prompt, entries, outcome = END, parts } of CASES) {
  Deno.test(`the sink of ${JSON.stringify(prompt)}`, async () => {
    const bench = await Bench.open(parts);
    const turn = await bench.run(prompt);
    assertEquals(turn.sink.entries, [...entries]);
    assertEquals(turn.outcome, outcome);
  });
}

Deno.test("answers that choose nothing are said as what they are", async () => {
  const cases = [
    ["/ask Which? | Red\n/say on", { kind: "decline" }, "You gave no answer.on"],
    ["/ask Which? | Red\n/say on", { kind: "option", optionId: "7" }, "You gave no answer.on"],
    ["/ask Which? | Red\n/say on", { kind: "cancel" }, ""],
    ["/form a:string\n/say on", { kind: "decline" }, "You declined the form.on"],
    ["/form a:string\n/say on", { kind: "cancel" }, "You cancelled the form.on"],
  ] as const;
  for (const [prompt, answer, words] of cases) {
    const bench = await Bench.open({ person: () => answer });
    const { sink, outcome } = await bench.run(prompt);
    assertEquals([prompt, answer.kind, sink.said()], [prompt, answer.kind, words]);
    assertEquals(outcome, END);
  }
});

Deno.test("a title goes to the Session and a background Run speaks for itself", async () => {
  const bench = await Bench.open();
  const { sink, outcome } = await bench.run("/title A title\n/background 1 Later");
  assertEquals(outcome, END);
  assertEquals(bench.titles, ["A title"]);
  assertEquals(sink.order(), ["background", "message", "messageComplete"]);
  const [background] = sink.backgrounds;
  assert(background);
  assertEquals(await background.outcome, END);
  assertEquals(background.sink.said(), "Later");
  const ids = [...sink.all("message"), ...background.sink.all("message")].map(([, id]) => id);
  assertEquals(new Set(ids).size, 2);
});

Deno.test("closing a Session ends its background Runs", async () => {
  const bench = await Bench.open();
  const { sink } = await bench.run("/background 60000 Later");
  await bench.close();
  const outcome = await sink.backgrounds[0]?.outcome.catch((error: Error) => error.message);
  assertEquals(outcome, "The Session was closed");
  assertEquals(sink.backgrounds[0]?.sink.entries, []);
});

Deno.test("a flood writes exactly its size and its result keeps the end of it", async () => {
  const bench = await Bench.open();
  const { sink } = await bench.run("/flood 200001");
  const output = sink.all("toolOutput").map(([, , , text]) => text).join("");
  assertEquals(output.length, 200_001);
  const [result] = sink.all("toolResult");
  const content = result?.[2].content[0];
  assert(content?.kind === "text");
  assertEquals(content.text, `[134465 earlier characters left out]\n${output.slice(-65536)}`);
});

Deno.test("one wrong step and nothing is done", async () => {
  const bench = await Bench.open();
  for (const [wrong, failure] of [["/nope", "unsupported"], ["/emit 1", "engine"]] as const) {
    const { sink, outcome } = await bench.run(`/say first\n${wrong}`);
    assertEquals(sink.entries, []);
    assert(outcome.kind === "failed");
    assertEquals(outcome.failure.class, failure);
    assertStringIncludes(outcome.failure.message, wrong.split(" ")[0] ?? "");
  }
});

Deno.test("[T5] words are answered with what arrived, never with themselves", async () => {
  const bench = await Bench.open({ options: { reason: "chosen" } });
  const words = "Tell me a secrét";
  const { sink, outcome } = await bench.run(words);
  assertEquals(outcome, END);
  assertEquals(
    sink.said(),
    `The workbench received 1 block:\n- text, 17 bytes, sha256 ${digestOf(words)}`,
  );
});

Deno.test("[T5] no step sends an empty piece", async () => {
  const bench = await Bench.open({ person: chooses("1") });
  const { sink } = await bench.run("hello\n/say a\n/think b\n/emit 3 1\n/ask q | a\n/flood 8192\n/rewrite c");
  const pieces = [...sink.all("message"), ...sink.all("toolOutput")].map((entry) => entry[3]);
  assertEquals(pieces.length > 8, true);
  assertFalse(pieces.includes(""));
});

Deno.test("[F3] [F7] each block is accounted for by what the Host holds", async () => {
  const bench = await Bench.open({ options: { reason: "chosen" } });
  const big = "x".repeat(600_000);
  const { sink } = await bench.run([
    { kind: "text", text: "Look:\n/say done" },
    { kind: "link", uri: "file:///a/notes.md", name: "notes.md", artifact: bench.keep("notes.md", big) },
    { kind: "link", uri: "https://example.org/", name: "a page", lines: { from: 2, to: 5 } },
    { kind: "resource", uri: "zed://rule", artifact: bench.keep("rule", "abc", "text/markdown") },
    { kind: "image", mimeType: "image/png", artifact: bench.keep("image", "", "image/png") },
    { kind: "audio", mimeType: "audio/wav", artifact: bench.keep("audio", "z", "audio/wav") },
  ]);
  const [account, said] = sink.all("message").map(([, , , text]) => text);
  assertEquals(account?.split("\n"), [
    "The workbench received 6 blocks:",
    `- text, 5 bytes, sha256 ${digestOf("Look:")}`,
    `- link notes.md (text/plain), 600000 bytes, sha256 ${digestOf(big)}`,
    "- link a page, a reference without bytes, lines 2 to 5",
    `- resource rule (text/markdown), 3 bytes, sha256 ${digestOf("abc")}`,
    `- image image (image/png), 0 bytes, sha256 ${digestOf("")}`,
    `- audio audio (audio/wav), 1 bytes, sha256 ${digestOf("z")}`,
  ]);
  assertEquals(said, "done");
});

Deno.test("[F3] bytes that differ from their reference fail the Turn", async () => {
  const bench = await Bench.open();
  const kept = bench.keep("notes.md", "four");
  const lies = [{ sha256: digestOf("five") }, { size: 5 }, { size: 3 }];
  for (const lie of lies) {
    const artifact = { ...kept, ...lie };
    const { sink, outcome } = bench.start([{ kind: "resource", uri: "a:b", artifact }]);
    const message = await outcome.then(() => "nothing", (error: Error) => error.message);
    assertEquals(message, "What the Host holds of notes.md differs from its reference");
    assertEquals(sink.entries, []);
  }
});

Deno.test("the first answer to words says how to name an agent, once a Session", async () => {
  const bench = await Bench.open();
  assertEquals((await bench.run("/say hi")).sink.said(), "hi");
  const first = (await bench.run("hello")).sink.said();
  assertMatch(first, /No agent is configured.*gangway -- gemini/);
  assertFalse((await bench.run("hello")).sink.said().includes("gangway --"));
  const again = await Bench.open({ restored: bench.states[0] });
  assertFalse((await again.run("hello")).sink.said().includes("gangway --"));
});
