import { assert, assertEquals } from "@std/assert";
import { asked, FIELDS, FORM, QUESTION } from "./asked.ts";
import type { Answer, FormField, Interaction } from "../../src/model/question.ts";
import { answerOf } from "../../src/interaction/mod.ts";

function answer(interaction: Interaction, response: unknown): Answer {
  const result = answerOf(interaction, response);
  assert("answer" in result, JSON.stringify(result));
  return result.answer;
}

/** That a response is refused with a sentence which holds nothing of it. */
function refused(interaction: Interaction, response: unknown): void {
  const result = answerOf(interaction, response);
  assert("invalid" in result, `${JSON.stringify(response)} gave ${JSON.stringify(result)}`);
  assert(result.invalid.length > 20 && !result.invalid.includes("typed"), result.invalid);
}

function selected(optionId: unknown): unknown {
  return { outcome: { outcome: "selected", optionId } };
}

/** What no dialog may take for an answer. */
const NONSENSE: readonly unknown[] = [undefined, null, true, "allow", 1, [], ["allow"], {}, {
  outcome: "allow",
}];

for (const kind of ["permission", "sandbox_boundary", "client_capability"] as const) {
  Deno.test(`[I1] a ${kind} takes what was offered, and its dismissal as cancel`, () => {
    const interaction = asked({ kind });
    for (const optionId of ["allow", "always", "deny", "never"]) {
      assertEquals(answer(interaction, selected(optionId)), { kind: "option", optionId });
    }
    assertEquals(answer(interaction, { outcome: { outcome: "cancelled" }, _meta: { x: 1 } }), {
      kind: "cancel",
      meta: { x: 1 },
    });
    assertEquals(
      answer(interaction, { outcome: { outcome: "selected", optionId: "deny", _meta: null } }),
      { kind: "option", optionId: "deny" },
    );
  });

  Deno.test(`[I3] nothing else ever approves a ${kind}`, () => {
    const interaction = asked({ kind });
    const responses = [
      ...NONSENSE,
      ...NONSENSE.map((outcome) => ({ outcome })),
      ...[undefined, null, true, 0, "", "Allow", "allow ", "unknown", ["allow"], { optionId: "allow" }].map(
        selected,
      ),
      { outcome: { outcome: "allowed", optionId: "allow" } },
      { outcome: { outcome: "SELECTED", optionId: "allow" } },
      { outcome: { optionId: "allow" } },
      { outcome: { outcome: "selected", optionId: "allow", extra: 1 } },
      { outcome: { outcome: "cancelled", optionId: "allow" } },
      { outcome: { outcome: "selected", optionId: "allow" }, extra: 1 },
      { action: "accept", content: { answer: "allow" } },
      { optionId: "allow" },
      { outcome: { outcome: "selected", optionId: "toString" } },
      { outcome: { outcome: "selected", optionId: "__proto__" } },
    ];
    for (const response of responses) refused(interaction, response);
  });
}

Deno.test("[I6] a question takes its choices; decline and cancel are answers of their own", () => {
  assertEquals(answer(QUESTION, { action: "accept", content: { answer: "b" } }), {
    kind: "option",
    optionId: "b",
  });
  assertEquals(answer(QUESTION, { action: "decline" }), { kind: "decline" });
  assertEquals(answer(QUESTION, { action: "cancel", content: null }), { kind: "cancel" });
  assertEquals(answer(FORM, { action: "decline" }), { kind: "decline" });
  assertEquals(answer(FORM, { action: "cancel" }), { kind: "cancel" });
});

Deno.test("[I3] a question takes nothing that it did not offer", () => {
  const responses = [
    ...NONSENSE,
    ...[undefined, null, "x", [], {}, { answer: "x" }, { answer: null }, { answer: ["r"] }, { other: "r" }, {
      answer: "r",
      other: 1,
    }].map((content) => ({ action: "accept", content })),
    { action: "accepted", content: { answer: "r" } },
    { content: { answer: "r" } },
    { action: "decline", content: { answer: "r" } },
    { action: "cancel", content: {} },
    { action: "accept", content: { answer: "r" }, extra: 1 },
    selected("r"),
  ];
  for (const response of responses) refused(QUESTION, response);
});

const VALUES = {
  name: "abcd",
  mail: "a@b.org",
  site: "https://example.org/x",
  day: "2024-02-29",
  when: "2024-02-29T10:00:00.5+02:00",
  ratio: 0.25,
  count: 3,
  sure: false,
  size: "s",
  colour: "b",
  tags: ["x", "z"],
  parts: [],
};

Deno.test("[I1] a form takes values within its bounds, and an omitted field stays omitted", () => {
  assertEquals(answer(FORM, { action: "accept", content: VALUES }), { kind: "values", values: VALUES });
  assertEquals(answer(FORM, { action: "accept", content: { name: "ab" } }), {
    kind: "values",
    values: { name: "ab" },
  });
  const edges = { name: "abcde", ratio: 1, count: 1, tags: ["y"] };
  assertEquals(answer(FORM, { action: "accept", content: edges }), { kind: "values", values: edges });
});

/** By field: values that are of the wrong type or out of its bounds. */
const WRONG: { readonly [name: string]: readonly unknown[] } = {
  name: [null, 1, ["ab"], "", "a", "abcdef", "AB", "ab1", "ab "],
  mail: ["typed", "typed@", "@typed", "a b@c.org", "a@b@c", ""],
  site: ["typed", "http:// x", "", "//typed"],
  day: ["typed", "2023-02-29", "2024-13-01", "2024-1-1", "2024-02-29T00:00:00Z"],
  when: ["typed", "2024-02-29", "2024-02-30T10:00:00Z", "2024-02-29T24:00:00Z", "2024-02-29T10:00:00"],
  ratio: ["0.5", -0.01, 1.01, NaN, Infinity, null, true],
  count: [0, 11, 1.5, "3", 2 ** 60, null],
  sure: ["true", 1, 0, null, []],
  size: ["l", "S", 1, null, ["s"], ""],
  colour: ["Red", "typed", null],
  tags: [[], ["x", "y", "z"], ["x", "x"], ["typed"], "x", [1], [null], null, { 0: "x", length: 1 }],
  parts: [["p", "q"], ["Part"], "p"],
};

Deno.test("[I3] a form takes no value of a wrong type or out of bounds", () => {
  assertEquals(Object.keys(WRONG), FIELDS.map((field) => field.name));
  for (const [name, values] of Object.entries(WRONG)) {
    for (const value of values) refused(FORM, { action: "accept", content: { ...VALUES, [name]: value } });
  }
});

Deno.test("[I3] a form takes no missing, extra or inherited field", () => {
  const { name: _, ...without } = VALUES;
  for (
    const content of [
      without,
      { ...VALUES, extra: 1 },
      { ...VALUES, constructor: "x" },
      JSON.parse(`{"name":"abcd","__proto__":"x"}`),
      Object.create({ name: "abcd" }),
      null,
      [],
      undefined,
    ]
  ) refused(FORM, { action: "accept", content });
});

Deno.test("[I3] a field may have the name of a built-in property", () => {
  const fields: FormField[] = [{ name: "__proto__", required: true, type: "string" }];
  const result = answer({ ...FORM, fields }, { action: "accept", content: JSON.parse(`{"__proto__":"x"}`) });
  assert(result.kind === "values");
  assertEquals(Object.entries(result.values), [["__proto__", "x"]]);
});
