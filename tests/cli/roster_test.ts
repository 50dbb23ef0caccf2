import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Machine } from "../../src/cli/state.ts";
import { nameOf, openRoster, type RosterOrRefusal, usualPlace } from "../../src/cli/roster.ts";
import type { ServeOptions } from "../../src/cli/flags.ts";
import { silentLog } from "../../src/model/log.ts";
import { withFolder } from "../support/launch.ts";

const NOTHING: Machine = { os: "linux", cwd: "/", granted: () => false, env: () => "denied" };

function roster(options: Partial<ServeOptions>, machine: Machine = NOTHING): Promise<RosterOrRefusal> {
  return openRoster({ options: { store: { kind: "memory" }, ...options }, machine, log: silentLog });
}

const names: readonly (readonly [command: string, name: string])[] = [
  ["gemini --acp", "gemini"],
  ["/usr/bin/opencode acp", "opencode"],
  ["npx -y @google/gemini-cli@1.2.3 --acp", "gemini-cli"],
  ["npx @zed-industries/claude-agent-acp", "claude-agent-acp"],
  ["deno run -A /x/agent.ts", "agent"],
  ["C:\\x\\goose.exe acp", "goose"],
  ["node", "node"],
  ["workbench", "agent"],
  ["/...", "agent"],
];
for (const [command, name] of names) {
  Deno.test(`"${command}" is the agent "${name}"`, () => {
    const [program = "", ...args] = command.split(" ");
    assertEquals(nameOf(program, args), name);
  });
}

Deno.test("a command behind -- is the agent of new Sessions, beside the workbench", async () => {
  const made = await roster({ command: ["gemini", "--acp"] });
  assert(made.kind === "roster");
  assertEquals(made.defaultEngine, "gemini");
  assertEquals(made.engines.map(({ profile }) => profile.engineId), ["workbench", "gemini"]);
});

Deno.test("agents of a configuration file go by their names, and one may be the default", async () => {
  await withFolder(async (folder) => {
    const config = `${folder}/c.json`;
    await Deno.writeTextFile(
      config,
      JSON.stringify({ agents: { a: { command: "x" }, b: { command: "y" } }, defaultAgent: "b" }),
    );
    const machine: Machine = { ...NOTHING, granted: () => true };
    const made = await roster({ config }, machine);
    assert(made.kind === "roster");
    assertEquals(made.engines.map(({ profile }) => profile.engineId), ["workbench", "a", "b"]);
    assertEquals(made.defaultEngine, "b");
    const named = await roster({ config, agent: "a" }, machine);
    assertEquals(named.kind === "roster" && named.defaultEngine, "a");
    const unknown = await roster({ config, agent: "c" }, machine);
    assertEquals(unknown, { kind: "refused", why: 'There is no agent "c": there is "workbench", "a", "b"' });
    const denied = await roster({ config });
    assert(denied.kind === "refused");
    assertStringIncludes(denied.why, `--allow-read=${config}`);
  });
});

Deno.test("a file that was not named need not be there, one that was must", async () => {
  const machine: Machine = {
    ...NOTHING,
    granted: () => true,
    env: (variable) => ({ value: variable === "HOME" ? "/nowhere-at-all" : undefined }),
  };
  assertEquals(usualPlace(machine), "/nowhere-at-all/.config/gangway/gangway.json");
  assertEquals((await roster({}, machine)).kind, "roster");
  const refused = await roster({ config: "/nowhere-at-all/c.json" }, machine);
  assert(refused.kind === "refused");
  assertStringIncludes(refused.why, "there is no such file");
});
