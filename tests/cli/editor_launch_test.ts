import { assertEquals } from "@std/assert";
import { editorLaunch, isPassing } from "../../src/cli/editor_launch.ts";
import type { HostChoice } from "../../src/cli/flags.ts";
import type { Machine } from "../../src/cli/state.ts";
import { parseCommand } from "../../src/cli/flags.ts";

function machine(os: Machine["os"], env: Readonly<Record<string, string>> = {}): Machine {
  return {
    os,
    cwd: os === "windows" ? "C:\\work" : "/work",
    granted: () => true,
    env: (variable) => ({ value: env[variable] }),
  };
}

function argsFor(line: string, host: HostChoice, here: Machine): readonly string[] {
  const command = parseCommand(["doctor", ...line.split(" ").filter((word) => word !== "")]);
  if (command.kind !== "doctor") throw new Error(JSON.stringify(command));
  return editorLaunch(command.options, host, here).args;
}

Deno.test("editors start what doctor was asked about, wherever they start it", async (t) => {
  const table: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["", []],
    ["--memory", ["--memory"]],
    ["--state s --config /c.json", ["--state", "/work/s", "--config", "/c.json"]],
    ["--host auto --idle 60 --transport web", ["--host", "auto", "--idle", "60", "--transport", "web"]],
    ["--host h.sock", ["--host", "/work/h.sock"]],
    ["--log-level debug --log-file l", ["--log-level", "debug", "--log-file", "/work/l"]],
    ["--agent mine", ["--agent", "mine"]],
    ["--state s -- gemini --acp", ["--state", "/work/s", "--", "gemini", "--acp"]],
  ];
  for (const [line, words] of table) {
    await t.step(line || "nothing", () => {
      const args = argsFor(line, { kind: "none" }, machine("linux"));
      assertEquals(args.slice(args.length - words.length), words);
      assertEquals(args.length, argsFor("", { kind: "none" }, machine("linux")).length + words.length);
    });
  }
});

Deno.test("editors' Gangway may read where state and configuration belong, and reach a Host that it has", async (t) => {
  const table:
    readonly (readonly [name: string, here: Machine, host: HostChoice, flags: readonly string[]])[] = [
      ["Linux", machine("linux"), { kind: "none" }, ["--allow-env=XDG_STATE_HOME,HOME"]],
      ["a configuration folder of one's own", machine("linux", { XDG_CONFIG_HOME: "/c" }), { kind: "none" }, [
        "--allow-env=XDG_STATE_HOME,HOME,XDG_CONFIG_HOME",
      ]],
      ["macOS", machine("darwin"), { kind: "none" }, ["--allow-env=HOME"]],
      ["Windows", machine("windows"), { kind: "none" }, ["--allow-env=LOCALAPPDATA,APPDATA"]],
      ["a Host that goes on", machine("linux"), { kind: "auto" }, ["--allow-env", "--allow-net"]],
      ["a Host by its socket", machine("linux"), { kind: "path", path: "/h" }, [
        "--allow-env",
        "--allow-net",
      ]],
    ];
  for (const [name, here, host, flags] of table) {
    await t.step(name, () => {
      const found = argsFor("", host, here).filter((arg) => /^--allow-(env|net)/.test(arg));
      assertEquals(found, flags);
    });
  }
});

Deno.test("a program that npx keeps for a while is told from one that stays", () => {
  const table: readonly (readonly [program: string, passing: boolean])[] = [
    ["/home/a/.npm/_npx/0a1b/node_modules/deno/deno", true],
    ["C:\\npm-cache\\_npx\\0a1b\\node_modules\\deno\\deno.exe", true],
    ["/usr/lib/node_modules/deno/deno", false],
    ["/home/a/my_npx/deno", false],
  ];
  for (const [program, passing] of table) assertEquals(isPassing(program), passing, program);
});
