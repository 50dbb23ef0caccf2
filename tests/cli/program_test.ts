import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { gangway, type Launch, permitted, script, withFolder } from "../support/launch.ts";
import config from "../../deno.json" with { type: "json" };

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with nothing on stdin. */
async function run({ program, args, env, cwd }: Launch): Promise<Ended> {
  const command = new Deno.Command(program, { args: [...args], env: { ...env }, cwd, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("--version and --help answer on stdout without any permission", async () => {
  const version = await run(permitted([], "mod.ts", "--version"));
  assertEquals(version, { code: 0, stdout: `gangway ${config.version}\n`, stderr: "" });
  const help = await run(permitted([], "mod.ts", "--help"));
  assertEquals(help.code, 0);
  for (const flag of ["--agent", "--state", "--memory", "--log-level", "--log-file", "--version", "--help"]) {
    assertStringIncludes(help.stdout, flag);
  }
});

Deno.test("a reader that has enough is no fault", async () => {
  const { program, args } = permitted([], "mod.ts", "doctor");
  const child = new Deno.Command(program, { args: [...args], stdout: "piped", stderr: "piped" }).spawn();
  await child.stdout.cancel();
  const { code, stderr } = {
    code: (await child.status).code,
    stderr: await new Response(child.stderr).text(),
  };
  assertEquals([code, stderr], [0, ""]);
});

Deno.test({
  name: "in a terminal it says that an editor is waited for, and keeps silent about that elsewhere",
  // The terminal comes from a program that other systems have with other flags.
  ignore: Deno.build.os !== "linux",
  async fn() {
    const launch = gangway("--memory");
    const { stderr } = await run(launch);
    assertEquals(stderr, "");
    const line = [launch.program, ...launch.args].map((word) => `'${word}'`).join(" ");
    const { stdout } = await run({ ...launch, program: "script", args: ["-qec", line, "/dev/null"] });
    assertStringIncludes(stdout, "Waiting for an editor");
    assertStringIncludes(stdout, "--help");
  },
});

Deno.test("a mistake ends with code 2 and a sentence on stderr, and stdout stays empty", async (t) => {
  await withFolder(async (folder) => {
    const table: readonly (readonly [args: readonly string[], flags: readonly string[], told: string])[] = [
      [["--stat=x"], [], '"--state"'],
      [["--allow-read=/x"], [], "Deno's"],
      [["--agent", "nobody"], [], '"workbench"'],
      [["--log-file", `${folder}/log`], [], `--allow-write=${folder}/log`],
      [["--log-file", `${folder}/none/log`], ["-A"], `"${folder}/none/log"`],
    ];
    for (const [args, flags, told] of table) {
      await t.step(args.join(" "), async () => {
        const { code, stdout, stderr } = await run(permitted(flags, "mod.ts", "--memory", ...args));
        assertEquals([code, stdout], [2, ""]);
        assertStringIncludes(stderr, told);
        assertEquals(stderr.trim().split("\n").length, 1);
      });
    }
  });
});

Deno.test("the demo shows everything it promises, without colour where nobody sees it, and leaves nothing behind", async () => {
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await run({ ...gangway("demo"), env: { TMPDIR: folder } });
    assertEquals([code, stderr], [0, ""], stdout);
    // deno-lint-ignore no-control-regex
    assert(!/\u001b/.test(stdout));
    const shown = [
      /sha256 is the one on disk/,
      /thinks +The recipe/,
      /plan +◐ Mend the recipe/,
      /asks +Edit bread\.md\?/,
      /answers "Allow once"/,
      /- 350 g watr\n +\+ 350 g water/,
      /Exit code 0/,
      / cancelled\n {2}✓ the prompt ended \d+ ms after the cancel/,
      /ended with code 0/,
      /✓ the new process lists it: "Mend the recipe"/,
      /All of that was true/,
    ];
    for (const pattern of shown) assertMatch(stdout, pattern);
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  });
});

Deno.test("the demo without permissions says how to start it", async () => {
  const { code, stdout, stderr } = await run(permitted([], "mod.ts", "demo"));
  assertEquals([code, stderr], [1, ""]);
  assertStringIncludes(stdout, "start it with -A");
});

Deno.test("doctor says what works and ends with 0", async () => {
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await run(gangway("doctor", "--state", `${folder}/state`));
    assertEquals([code, stderr], [0, ""], stdout);
    const shown = [
      `Gangway ${config.version}`,
      `Deno ${Deno.version.deno}`,
      `Kept in ${folder}/state`,
      "The folder does not exist yet",
      "A prompt was answered: end_turn",
      "Zed",
      "JetBrains",
      "CodeCompanion",
      "avante",
    ];
    for (const text of shown) assertStringIncludes(stdout, text);
  });
});

Deno.test("doctor tells whose the state folder is, and who may look into it", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/state`, { mode: 0o755 });
    const { stdout } = await run(gangway("doctor", "--state", `${folder}/state`));
    assertStringIncludes(stdout, `belongs to you (user ${Deno.uid()})`);
    assertStringIncludes(stdout, "others may look into it");
  });
});

Deno.test({
  name: "doctor does not count on a state folder of somebody else",
  // Only root can give a folder away.
  ignore: Deno.build.os === "windows" || Deno.uid() !== 0,
  fn: () =>
    withFolder(async (folder) => {
      await Deno.mkdir(`${folder}/state`, { mode: 0o700 });
      await Deno.chown(`${folder}/state`, 12345, null);
      const { code, stdout } = await run(gangway("doctor", "--state", `${folder}/state`));
      assertEquals(code, 1);
      assertStringIncludes(stdout, "Not kept in");
    }),
});

Deno.test("doctor knows the agents of the configuration, and tries one that is named", async (t) => {
  await withFolder(async (folder) => {
    const file = `${folder}/gangway.json`;
    await Deno.writeTextFile(
      file,
      JSON.stringify({
        agents: { mine: { command: "no-such-program" } },
        defaultAgent: "mine",
        host: "auto",
      }),
    );
    const doctor = (...args: string[]) =>
      run(script("mod.ts", "doctor", "--memory", "--config", file, ...args));
    await t.step("the default one is named and not started", async () => {
      const { code, stdout } = await doctor("--host", "none");
      assertEquals(code, 0, stdout);
      assertStringIncludes(stdout, 'Agent: "mine" of the configuration: no-such-program');
      assertMatch(stdout, /They start: .* --memory --config .*gangway\.json --host none/);
      assert(!stdout.includes("--allow-net"));
    });
    await t.step("a chosen one is tried, with what the configuration says of the Host", async () => {
      const { code, stdout } = await doctor("--agent", "mine");
      assertEquals(code, 1, stdout);
      assertStringIncludes(stdout, 'no program "no-such-program"');
      assertMatch(stdout, /They start: .* --allow-net .* --agent mine/);
    });
    await t.step("one that is not there is a finding", async () => {
      const { code, stdout } = await doctor("--agent", "nobody");
      assertEquals(code, 1, stdout);
      assertStringIncludes(stdout, 'There is no agent "nobody"');
      assert(!stdout.includes("They start:"), "settings that start nothing are not printed");
    });
  });
});

Deno.test("doctor without permissions names the flags", async () => {
  const { code, stdout } = await run(permitted([], "mod.ts", "doctor"));
  assertEquals(code, 0);
  for (const text of ["in memory only", "--allow-read=", "--allow-write=", "--allow-run"]) {
    assertStringIncludes(stdout, text);
  }
});
