import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Command, parseCommand } from "../../src/cli/flags.ts";

const DEFAULTS = { agent: undefined, store: { kind: "default" }, logLevel: undefined, logFile: undefined };

Deno.test("a command line becomes a command", async (t) => {
  const table: readonly (readonly [line: string, command: unknown])[] = [
    ["", { kind: "serve", options: DEFAULTS }],
    ["serve", { kind: "serve", options: DEFAULTS }],
    ["--agent workbench", { kind: "serve", options: { ...DEFAULTS, agent: "workbench" } }],
    ["--state=/s", { kind: "serve", options: { ...DEFAULTS, store: { kind: "folder", folder: "/s" } } }],
    ["--state /s", { kind: "serve", options: { ...DEFAULTS, store: { kind: "folder", folder: "/s" } } }],
    ["--memory", { kind: "serve", options: { ...DEFAULTS, store: { kind: "memory" } } }],
    ["--log-level debug --log-file f", {
      kind: "serve",
      options: { ...DEFAULTS, logLevel: "debug", logFile: "f" },
    }],
    ["doctor --memory", { kind: "doctor", options: { ...DEFAULTS, store: { kind: "memory" } } }],
    ["--config c.json", { kind: "serve", options: { ...DEFAULTS, config: "c.json" } }],
    ["--memory -- gemini --acp -A", {
      kind: "serve",
      options: { ...DEFAULTS, store: { kind: "memory" }, command: ["gemini", "--acp", "-A"] },
    }],
    ["doctor -- x", { kind: "doctor", options: { ...DEFAULTS, command: ["x"] } }],
    ["--host auto --idle 60 --transport web", {
      kind: "serve",
      options: { ...DEFAULTS, host: { kind: "auto" }, idle: 60, transport: "web" },
    }],
    ["--host none --memory", {
      kind: "serve",
      options: { ...DEFAULTS, store: { kind: "memory" }, host: { kind: "none" } },
    }],
    ["--host=/run/h.sock", {
      kind: "serve",
      options: { ...DEFAULTS, host: { kind: "path", path: "/run/h.sock" } },
    }],
    ["host", { kind: "host", action: "run", options: DEFAULTS, print: { json: false, all: false } }],
    ["host status --json", {
      kind: "host",
      action: "status",
      options: DEFAULTS,
      print: { json: true, all: false },
    }],
    ["sessions --all", {
      kind: "sessions",
      action: "list",
      sessionId: "",
      options: DEFAULTS,
      print: { json: false, all: true },
    }],
    ["sessions show 1234", {
      kind: "sessions",
      action: "show",
      sessionId: "1234",
      options: DEFAULTS,
      print: { json: false, all: false },
    }],
    ...["33e4", "0012"].map((sessionId) =>
      [`sessions delete ${sessionId}`, {
        kind: "sessions",
        action: "delete",
        sessionId,
        options: DEFAULTS,
        print: { json: false, all: false },
      }] as const
    ),
    ["host --help", { kind: "help", about: "host" }],
    ["sessions show --help", { kind: "help", about: "sessions" }],
    ["demo", { kind: "demo" }],
    ["help", { kind: "help" }],
    ["--help", { kind: "help" }],
    ["-h --memory", { kind: "help" }],
    ["--version", { kind: "version" }],
    ["-V", { kind: "version" }],
  ];
  for (const [line, command] of table) {
    await t.step(`gangway ${line}`, () => assertEquals(parse(line), command as Command));
  }
});

Deno.test("a mistake names the word and the way out", async (t) => {
  const table: readonly (readonly [line: string, ...parts: string[]])[] = [
    ["--agnet workbench", '"--agnet"', '"--agent"'],
    ["--host auto --memory", '"--host"', '"--memory"'],
    ["--idle soon", "seconds", '"soon"'],
    ["--transport tcp", '"tcp"', "socket, web"],
    ["host restart", '"restart"', "run, status, stop"],
    ["host stop now", '"now"'],
    ["host -- gemini", "no agent"],
    ["sessions --agent x", "no agent"],
    ["sessions show", "gangway sessions show ID"],
    ["sessions delete 1 2", '"2"'],
    ["--states=/s", '"--states"', '"--state"'],
    ["--zzz", '"--zzz"', "--help"],
    ["-x", '"-x"', "--help"],
    ["--allow-read=/p", '"--allow-read"', "Deno's", "before the program"],
    ["--deny-net", '"--deny-net"', "Deno's"],
    ["--no-prompt", '"--no-prompt"', "Deno's"],
    ["docter", '"docter"', '"doctor"'],
    ["zzz", '"zzz"', "--help"],
    ["demo now", '"demo"', '"now"'],
    ["--agent=", '"--agent"', "--agent=workbench"],
    ["--state", '"--state"', "--state=FOLDER"],
    ["--log-level loud", '"loud"', "debug, info, warn, error"],
    ["--agent a -- b", '"--agent"', '"--"'],
    ["--", '"--"', "command"],
    ["demo -- x", '"demo"', '"--"'],
    ["--state /s --memory", '"--state"', '"--memory"'],
  ];
  for (const [line, ...parts] of table) {
    await t.step(`gangway ${line}`, () => {
      const command = parse(line);
      if (command.kind !== "mistake") throw new Error(`"${line}" was taken for "${command.kind}"`);
      for (const part of parts) assertStringIncludes(command.message, part);
    });
  }
});

function parse(line: string): Command {
  return parseCommand(line === "" ? [] : line.split(" "));
}
