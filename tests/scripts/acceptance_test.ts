import { assertEquals } from "@std/assert";
import { compare, namedIds } from "../../scripts/acceptance.ts";

Deno.test("ids are read where a test's name begins", () => {
  const source = [
    'Deno.test("[A1] one", () => {});',
    "Deno.test({ name: '[B2] [C3] two', fn() {} });",
    "await t.step(`[D10] ${kind}`, () => {});",
    "// as [E5] says",
    'const text = "see [F6]";',
  ].join("\n");
  assertEquals(namedIds(source), ["A1", "B2", "C3", "D10"]);
});

Deno.test("ids without a test and ids that do not exist are both found", () => {
  assertEquals(compare(["A1", "A2"], new Set(["A2", "Z9"])), { unproved: ["A1"], unknown: ["Z9"] });
});
