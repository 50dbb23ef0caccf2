import { assert, assertEquals } from "@std/assert";
import { asked } from "./asked.ts";
import { dialogOf } from "../../src/interaction/mod.ts";
import type { QuestionOption } from "../../src/model/question.ts";

Deno.test("[E1] an answer that the asker remembers by itself keeps its kind, and names no reach that nobody knows", () => {
  const options: readonly QuestionOption[] = [
    { optionId: "a", name: "Always", effect: "allow", lasting: true },
    { optionId: "b", name: "Never", effect: "deny", lasting: true },
    { optionId: "c", name: "Once", effect: "allow" },
  ];
  const dialog = dialogOf(asked({ options }), { sessionId: "s", abilities: { forms: false } });
  assert("params" in dialog);
  assertEquals(dialog.params.options, [
    { optionId: "a", name: "Always", kind: "allow_always" },
    { optionId: "b", name: "Never", kind: "reject_always" },
    { optionId: "c", name: "Once", kind: "allow_once" },
  ]);
});
