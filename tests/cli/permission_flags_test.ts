import { assertEquals } from "@std/assert";
import { flagsOf } from "../../src/cli/launch.ts";
import { takePermissions } from "../../src/cli/permissions.ts";

Deno.test("a compiled program takes Deno's permission flags out of its arguments", async (t) => {
  const all = { read: true, write: true, env: true, run: true, net: true, sys: true };
  const table: readonly (readonly [line: string, permissions: unknown, rest: readonly string[]])[] = [
    ["", {}, []],
    ["--memory", {}, ["--memory"]],
    ["--allow-read", { read: true }, []],
    ["--allow-read=/a,/b --state /s", { read: ["/a", "/b"] }, ["--state", "/s"]],
    ["--allow-read=/a --allow-read=/b", { read: ["/a", "/b"] }, []],
    ["--allow-read=/a --allow-read", { read: true }, []],
    ["--allow-read --allow-read=/a", { read: true }, []],
    ["--allow-read=@workspace --allow-env=HOME", { read: ["@workspace"], env: ["HOME"] }, []],
    ["--no-prompt demo", {}, ["demo"]],
    ["-A", all, []],
    ["--allow-all", all, []],
    ["--allow-ffi --deny-read=/a", {}, ["--allow-ffi", "--deny-read=/a"]],
  ];
  for (const [line, permissions, rest] of table) {
    await t.step(`gangway ${line}`, () => {
      const args = line === "" ? [] : line.split(" ");
      assertEquals(takePermissions(args), { permissions, rest } as ReturnType<typeof takePermissions>);
    });
  }
});

Deno.test("permissions become the flags that grant them", () => {
  assertEquals(flagsOf({ read: ["/a", "/b"], run: true }), ["--allow-read=/a,/b", "--allow-run"]);
});
