import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { Bench, chooses, folder } from "./bench.ts";
import type { Answer } from "../../src/model/question.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

const MODES = [
  ["ask", "/write made x", "asks"],
  ["ask", "/run touch made", "asks"],
  ["accept_edits", "/write made x", "acts"],
  ["accept_edits", "/run touch made", "asks"],
  ["read_only", "/write made x", "refuses"],
  ["read_only", "/run touch made", "refuses"],
  ["a mode of later days", "/write made x", "asks"],
] as const;

for (const [mode, prompt, behaviour] of MODES) {
  Deno.test(`[G1] in the mode ${mode} the workbench ${behaviour}: ${prompt}`, async () => {
    await using temp = await folder();
    const bench = await Bench.open({ cwd: temp.path, mode, person: chooses("allow_once") });
    const { sink, outcome } = await bench.run(`${prompt}\n/say went on`);
    assertEquals(sink.all("ask").length, behaviour === "asks" ? 1 : 0);
    const result = sink.all("toolResult")[0]?.[2];
    assertEquals(result?.status, behaviour === "refuses" ? "failed" : "completed");
    if (behaviour === "refuses") assertStringIncludes(JSON.stringify(result?.content), "read_only");
    assertEquals(await exists(`${temp.path}/made`), behaviour !== "refuses");
    assertEquals([outcome.kind, sink.said()], ["completed", "went on"]);
  });
}

Deno.test("[G1] a mode that changes while the Turn runs counts from then on", async () => {
  await using temp = await folder();
  const bench = await Bench.open({
    cwd: temp.path,
    person: () => {
      bench.mode = "accept_edits";
      return { kind: "option", optionId: "allow_once" };
    },
  });
  const { sink } = await bench.run("/write a 1\n/write b 2");
  assertEquals(sink.all("ask").length, 1);
  assert(await exists(`${temp.path}/b`));
});

Deno.test("[G1] read_only that comes while the question is open wins over the answer", async () => {
  for (const prompt of ["/write made x", "/run touch made"]) {
    await using temp = await folder();
    const bench = await Bench.open({
      cwd: temp.path,
      person: () => {
        bench.mode = "read_only";
        return { kind: "option", optionId: "allow_once" };
      },
    });
    const { sink } = await bench.run(prompt);
    assertEquals([sink.all("ask").length, sink.all("toolResult")[0]?.[2].status], [1, "failed"]);
    assertFalse(await exists(`${temp.path}/made`));
  }
});

Deno.test("[I9] the card comes before its question, which names the deed and its exact scope", async () => {
  await using temp = await folder();
  const cases = [
    [
      "/write sub/made x",
      { what: "write", value: `${temp.path}/sub/made`, until: "session" },
      "write sub/made",
    ],
    ["/run touch made", { what: "run", value: "touch made", until: "session" }, "run touch made"],
  ] as const;
  for (const [prompt, scope, deed] of cases) {
    const bench = await Bench.open({ cwd: temp.path, person: chooses("allow_always") });
    const { sink } = await bench.run(prompt);
    assertEquals(sink.order(), ["toolStart", "ask", "toolResult"]);
    const question = sink.all("ask")[0]?.[1];
    assertEquals(question?.kind, "permission");
    assertEquals(question?.toolCallId, sink.all("toolStart")[0]?.[1]);
    assertEquals(question?.message, `May the workbench ${deed}?`);
    assertEquals(question?.options.map(({ optionId, effect, scope }) => [optionId, effect, scope]), [
      ["allow_once", "allow", undefined],
      ["allow_always", "allow", scope],
      ["reject_once", "deny", undefined],
      ["reject_always", "deny", scope],
    ]);
    for (const option of question?.options ?? []) {
      if (option.scope !== undefined) assertStringIncludes(option.name, deed);
    }
  }
});

const REFUSALS: readonly Answer[] = [
  { kind: "option", optionId: "reject_once" },
  { kind: "option", optionId: "reject_always" },
  { kind: "option", optionId: "allow" },
  { kind: "option", optionId: "" },
  { kind: "values", values: { allow_once: true } },
  { kind: "decline" },
  { kind: "cancel" },
];

for (const answer of REFUSALS) {
  Deno.test(`[I3] nothing is done after ${JSON.stringify(answer)}`, async () => {
    await using temp = await folder();
    for (const prompt of ["/write made x", "/run touch made"]) {
      const bench = await Bench.open({ cwd: temp.path, person: () => answer });
      const { sink, outcome } = await bench.run(`${prompt}\n/say never`);
      assertEquals(sink.order(), ["toolStart", "ask", "toolResult", "message", "messageComplete"]);
      assertEquals(sink.all("toolResult")[0]?.[2].status, "failed");
      assertStringIncludes(sink.said(), "You did not let the workbench");
      assertEquals(outcome, { kind: "completed", stopReason: "end_turn" });
      assertFalse(await exists(`${temp.path}/made`));
    }
  });
}
