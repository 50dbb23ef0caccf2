import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AgentBook } from "../../../src/cli/daemon/agent_book.ts";
import { boundedFileSink } from "../../../src/cli/daemon/log_file.ts";
import { commonEnvironment } from "../../../src/cli/daemon/environment.ts";
import { describeAgent, introductionOf } from "../../../src/cli/daemon/description.ts";
import { HostError } from "../../../src/host/errors.ts";
import { introduction, NO_OUTLET } from "./desk.ts";
import { isOlder } from "../../../src/cli/daemon/reach.ts";
import type { Machine } from "../../../src/cli/state.ts";
import { silentLog } from "../../../src/model/log.ts";
import { statusOf } from "../../../src/cli/daemon/caller.ts";
import { withFolder } from "../../support/launch.ts";

Deno.test("an older version is told from an equal and a newer one", () => {
  const table: readonly (readonly [version: string, than: string, older: boolean])[] = [
    ["0.1.0", "0.1.1", true],
    ["0.1.1", "0.1.0", false],
    ["0.9.0", "0.10.0", true],
    ["1.0.0", "0.10.0", false],
    ["1.0.0", "1.0.0", false],
    ["strange", "1.0.0", false],
  ];
  for (const [version, than, older] of table) {
    assertEquals(isOlder(version, than), older, `${version} ${than}`);
  }
});

Deno.test({
  name: "whoever may not use a Host's folder is told so in a sentence",
  // Those may do everything, and Windows has no such modes.
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  fn: () =>
    withFolder(async (folder) => {
      await Deno.mkdir(`${folder}/host`, { mode: 0o700 });
      await Deno.writeTextFile(`${folder}/host/endpoint.json`, "{}", { mode: 0o600 });
      await Deno.chmod(`${folder}/host`, 0o500);
      const error = await assertRejects(
        () => statusOf({ kind: "state", folder }, new AbortController().signal),
        HostError,
        `"${folder}"`,
      );
      assertStringIncludes(error.message, "--state");
      await Deno.chmod(`${folder}/host`, 0o700);
    }),
});

Deno.test("[W4] a Host's log is its user's alone and never takes more than twice its bound", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/log`;
    const sink = boundedFileSink(path, 1000);
    for (let at = 0; at < 100; at++) sink.line(`line ${at} ${"x".repeat(40)}`);
    await sink.close();
    const sizes = [(await Deno.stat(path)).size, (await Deno.stat(`${path}.old`)).size];
    assert(sizes.every((size) => size <= 1000), `${sizes}`);
    assert((await Deno.readTextFile(path)).includes("line 99"));
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  });
});

Deno.test("[S9] of an editor's variables only the common and the named ones are told, and only those that may be read", () => {
  const values: Record<string, string> = { PATH: "/bin", LANG: "C", SECRET: "s", MY_KEY: "k", HOME: "/h" };
  const machine: Machine = {
    os: "linux",
    cwd: "/w",
    granted: () => true,
    env: (name) => name === "HOME" ? "denied" : { value: values[name] },
  };
  assertEquals(commonEnvironment(machine), { PATH: "/bin", LANG: "C" });
  const here = { cwd: "/w", variable: (name: string) => values[name] };
  assertEquals(describeAgent("a", { command: "x", passEnv: ["MY_KEY", "NONE"], env: { FIXED: "1" } }, here), {
    engineId: "a",
    program: "x",
    args: [],
    cwd: "/w",
    env: { MY_KEY: "k", FIXED: "1" },
    options: {},
  });
});

Deno.test("[S9] a later Host knows an agent's command, and none of its variables", async () => {
  await withFolder(async (folder) => {
    const options = { folder, file: `${folder}/agents.json`, base: {}, outlet: NO_OUTLET, log: silentLog };
    const agent = {
      engineId: "mine",
      program: "sh",
      args: ["-c", "x"],
      cwd: "/",
      env: { KEY: "secret-1" },
      options: {},
    };
    const told = introductionOf(introduction({ agents: [agent], environment: { LANG: "secret-2" } }));
    assert(told !== undefined);
    const first = new AgentBook(options);
    assertEquals(first.engines.map(({ profile }) => profile.engineId), ["workbench"]);
    first.introduce(told);
    const text = await Deno.readTextFile(options.file);
    assert(!text.includes("secret"), text);
    assertEquals(((await Deno.stat(options.file)).mode ?? 0) & 0o777, 0o600);
    await first.close();
    const second = new AgentBook(options);
    assertEquals(second.engines.map(({ profile }) => profile.engineId), ["workbench", "mine"]);
    await second.close();
  });
});

Deno.test("[W2] an introduction that cannot be understood is none", () => {
  for (
    const change of [{ agents: [{}] }, { workbench: "x" }, { environment: { A: 1 } }, {
      defaultEngine: undefined,
    }]
  ) {
    assertEquals(introductionOf({ ...introduction(), ...change }), undefined);
  }
});
