import { assertEquals, assertStringIncludes } from "@std/assert";
import { configSchema, readConfig } from "../../src/cli/config.ts";

Deno.test("a configuration names agents", () => {
  const config = {
    $schema: "./gangway.schema.json",
    agents: {
      gemini: {
        command: "gemini",
        args: ["--acp"],
        env: { KEY: "x" },
        cwd: "/w",
        options: { mode: "ask", fast: true },
      },
    },
    defaultAgent: "gemini",
  };
  assertEquals(readConfig(JSON.stringify(config), "f"), { kind: "config", config });
});

const mistakes: readonly (readonly [config: unknown, ...says: string[]])[] = [
  [{ agent: {} }, '"my.json"', "agent is not a setting"],
  [{ agents: { x: { command: "x", arg: [] } } }, "agents.x.arg is not a setting"],
  [{ agents: { x: { comand: "x", arg: [] } } }, "agents.x.comand, agents.x.arg are no settings"],
  [{ agents: { x: { command: 1 } } }, "agents.x.command"],
  [{ agents: { x: { command: "x", args: ["a", 1] } } }, "agents.x.args.1"],
  [{ agents: { "a b": { command: "x" } } }, "agents.a b is no name"],
  [{ agents: { workbench: { command: "x" } } }, "agents.workbench"],
  [{ defaultAgent: "x" }, 'defaultAgent is "x"'],
  [[], "the file"],
];
for (const [config, ...says] of mistakes) {
  Deno.test(`a configuration is refused with its path: ${JSON.stringify(config)}`, () => {
    const read = readConfig(JSON.stringify(config), "my.json");
    if (read.kind !== "refused") throw new Error("It was taken");
    for (const each of says) assertStringIncludes(read.why, each);
  });
}

Deno.test("a file that is no JSON is refused", () => {
  const read = readConfig("{", "my.json");
  if (read.kind !== "refused") throw new Error("It was taken");
  assertStringIncludes(read.why, '"my.json" is no JSON');
});

Deno.test("the schema for editors is the one that is checked", async () => {
  const kept = await Deno.readTextFile(new URL("../../gangway.schema.json", import.meta.url));
  assertEquals(JSON.parse(kept), JSON.parse(JSON.stringify(configSchema())));
});
