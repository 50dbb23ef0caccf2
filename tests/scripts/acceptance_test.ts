import { assertEquals } from "@std/assert";
import { compare, namedIds } from "../../scripts/acceptance.ts";

Deno.test("ids are read where a test's name begins", () => {
  // Written so that this file itself names none.
  const [one, two, three, ten] = ["A1", "B2", "C3", "D10"].map((id) => `[${id}]`);
  const source = [
    `Deno.test("${one} one", () => {});`,
    `Deno.test({ name: '${two} ${three} two', fn() {} });`,
    `await t.step(\`${ten} \${kind}\`, () => {});`,
    `// as ${one} says`,
    `const text = "see ${two}";`,
  ].join("\n");
  assertEquals(namedIds(source), ["A1", "B2", "C3", "D10"]);
});

Deno.test("ids without a test and ids that do not exist are both found", () => {
  assertEquals(compare(["A1", "A2"], new Set(["A2", "Z9"])), { unproved: ["A1"], unknown: ["Z9"] });
});
