import { assert, assertEquals } from "@std/assert";
import { ALWAYS, asked } from "./asked.ts";
import { answerOf, dialogOf } from "../../src/interaction/mod.ts";
import type { Interaction } from "../../src/model/question.ts";
import type { JsonObject } from "../../src/model/json.ts";

function paramsOf(interaction: Interaction, card?: JsonObject): JsonObject {
  const dialog = dialogOf(interaction, { sessionId: "s", abilities: { forms: true }, card });
  assert("params" in dialog, JSON.stringify(dialog));
  return dialog.params;
}

Deno.test("[I2] a scope that is too long for an option keeps its beginning and its end", () => {
  const value = `rm -r ${"folder/".repeat(200)}last`;
  const params = paramsOf(asked({ options: [{ ...ALWAYS, scope: { what: "run", value, until: "turn" } }] }));
  const [{ name }] = params.options as [{ name: string }];
  assertEquals(name.startsWith("Always allow (run rm -r folder/"), true, name);
  assertEquals(name.endsWith("folder/last, until this turn ends)"), true, name);
  assertEquals(name.includes("…") && name.length < 700, true, name);
});

Deno.test("[I3] a list is neither an answer nor the values of a form", () => {
  const form = asked({
    kind: "form",
    options: [],
    fields: [{ name: "f", required: false, type: "boolean" }],
  });
  for (const response of [[], [{ outcome: "selected", optionId: "allow" }]]) {
    assertEquals("invalid" in answerOf(asked(), response), true);
    assertEquals("invalid" in answerOf(asked(), { outcome: response }), true);
    assertEquals("invalid" in answerOf(form, { action: "accept", content: response }), true);
  }
  assertEquals(answerOf(form, { action: "accept", content: {} }), { answer: { kind: "values", values: {} } });
});

Deno.test("[I9] the question's words come before what the tool's card shows, which stays", () => {
  const diff = { type: "diff", path: "/w/a", oldText: "a", newText: "b" };
  const params = paramsOf(asked({ toolCallId: "t1", message: "Write it?" }), {
    toolCallId: "t1",
    title: "Write a",
    content: [diff],
  });
  assertEquals(params.toolCall, {
    toolCallId: "t1",
    title: "Write a",
    content: [{ type: "content", content: { type: "text", text: "Write it?" } }, diff],
  });
});
