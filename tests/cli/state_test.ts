import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { folderRefusal, type Machine, planStore } from "../../src/cli/state.ts";

interface Made {
  readonly os?: Machine["os"];
  readonly env?: Readonly<Record<string, string>> | "denied";
  readonly granted?: readonly ("read" | "write")[];
}

function machine({ os = "linux", env = {}, granted = ["read", "write"] }: Made): Machine {
  return {
    os,
    cwd: os === "windows" ? "C:\\work" : "/work",
    granted: (name) => granted.includes(name),
    env: (variable) => env === "denied" ? "denied" : { value: env[variable] },
  };
}

Deno.test("state goes where the operating system keeps it", async (t) => {
  const table: readonly (readonly [name: string, made: Made, folder: string])[] = [
    ["Linux", { env: { HOME: "/home/a" } }, "/home/a/.local/state/gangway"],
    ["XDG_STATE_HOME", { env: { HOME: "/home/a", XDG_STATE_HOME: "/s" } }, "/s/gangway"],
    ["a relative XDG_STATE_HOME is ignored", {
      env: { HOME: "/home/a", XDG_STATE_HOME: "s" },
    }, "/home/a/.local/state/gangway"],
    ["macOS", {
      os: "darwin",
      env: { HOME: "/Users/a", XDG_STATE_HOME: "/s" },
    }, "/Users/a/Library/Application Support/gangway"],
    ["Windows", {
      os: "windows",
      env: { LOCALAPPDATA: "C:\\Users\\a\\AppData\\Local" },
    }, "C:\\Users\\a\\AppData\\Local\\gangway"],
  ];
  for (const [name, made, folder] of table) {
    await t.step(
      name,
      () => assertEquals(planStore({ kind: "default" }, machine(made)), { kind: "folder", folder }),
    );
  }
});

Deno.test("without the permission for the default place Sessions stay in memory, and the flag is named", async (t) => {
  const home = { HOME: "/home/a" };
  const table: readonly (readonly [name: string, made: Made, ...parts: string[]])[] = [
    ["environment", { env: "denied" }, "--allow-env=XDG_STATE_HOME,HOME", "--state"],
    ["no home", { env: {} }, "HOME", "--state"],
    ["reading", { env: home, granted: ["write"] }, "--allow-read=/home/a/.local/state/gangway"],
    ["writing", { env: home, granted: ["read"] }, "--allow-write=/home/a/.local/state/gangway"],
    ["both", { env: home, granted: [] }, "--allow-read=/home/a/", "and --allow-write=/home/a/"],
  ];
  for (const [name, made, ...parts] of table) {
    await t.step(name, () => {
      const plan = planStore({ kind: "default" }, machine(made));
      if (plan.kind !== "memory" || plan.why === undefined) throw new Error(`The plan is "${plan.kind}"`);
      for (const part of ["in memory only", ...parts]) assertStringIncludes(plan.why, part);
      // A command that cannot do without the folder does not speak of memory.
      const refusal = folderRefusal(plan);
      for (const part of ["state folder cannot be used", ...parts]) assertStringIncludes(refusal, part);
      assert(!refusal.includes("memory"), refusal);
    });
  }
});

Deno.test("a folder that was named is used or refused, never exchanged for memory", () => {
  const choice = { kind: "folder", folder: "s" } as const;
  assertEquals(planStore(choice, machine({})), { kind: "folder", folder: "/work/s" });
  assertEquals(planStore(choice, machine({ os: "windows" })), { kind: "folder", folder: "C:\\work\\s" });
  const plan = planStore(choice, machine({ granted: ["read"] }));
  if (plan.kind !== "refused") throw new Error(`The plan is "${plan.kind}"`);
  assertStringIncludes(plan.why, "--allow-write=s");
});

Deno.test("memory that was asked for needs nothing and says nothing", () => {
  assertEquals(planStore({ kind: "memory" }, machine({ env: "denied", granted: [] })), { kind: "memory" });
});
