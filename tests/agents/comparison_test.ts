import { assertEquals } from "@std/assert";
import { differences, judge } from "./comparison.ts";

Deno.test("two recordings differ where a member, an entry or a value does, and nothing is as good as null", () => {
  const alone = { a: { b: 1, c: null, d: [] }, list: ["x", { y: 1 }], same: "s" };
  const behind = { a: { b: 2 }, list: ["x", { y: 1, z: 2 }, "more"], same: "s" };
  assertEquals(differences(alone, behind), [
    { at: "a.b", alone: 1, behind: 2 },
    { at: "list.1.z", alone: undefined, behind: 2 },
    { at: "list.2", alone: undefined, behind: "more" },
  ]);
});

const found = [{ at: "scenes.talk.answer.usage", alone: 1, behind: undefined }];
const cases: readonly { name: string; at: string; sometimes?: true; says: readonly string[] }[] = [
  { name: "the member itself", at: "scenes.talk.answer.usage", says: [] },
  { name: "what is above it", at: "scenes.talk", says: [] },
  { name: "any scene", at: "scenes.*.answer", says: [] },
  {
    name: "what is below it",
    at: "scenes.talk.answer.usage.input",
    says: [
      "scenes.talk.answer.usage: alone 1, behind Gangway nothing",
      "scenes.talk.answer.usage.input does not differ: why",
    ],
  },
  {
    name: "something else",
    at: "hello",
    says: ["scenes.talk.answer.usage: alone 1, behind Gangway nothing", "hello does not differ: why"],
  },
  {
    name: "something that need not be",
    at: "hello",
    sometimes: true,
    says: ["scenes.talk.answer.usage: alone 1, behind Gangway nothing"],
  },
];
for (const { name, says, ...written } of cases) {
  Deno.test(`a written difference about ${name} is held against what was found`, () => {
    assertEquals(judge(found, [{ ...written, why: "why" }]), says);
  });
}
