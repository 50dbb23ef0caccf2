import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { editorSettings } from "../../src/cli/editors.ts";
import { helpText, HOST_HELP, SESSIONS_HELP } from "../../src/cli/help.ts";
import { ROOT } from "../support/launch.ts";

const readme: string = await Deno.readTextFile(`${ROOT}README.md`);

Deno.test("the README's editor settings are those that doctor prints", async (t) => {
  const launch = {
    program: "deno",
    args: [
      ...["run", "--no-prompt", "--allow-env=XDG_STATE_HOME,HOME", "--allow-read", "--allow-write"],
      ...["--allow-run", "/home/you/gangway/dist/gangway.js"],
    ],
  };
  for (const { editor, text } of editorSettings(launch)) {
    await t.step(editor, () => assertStringIncludes(readme, text));
  }
});

Deno.test("editor settings survive spaces and quotes in a path", async (t) => {
  const path = '/home/you/my "work"/gangway';
  for (const { editor, text } of editorSettings({ program: path, args: [] })) {
    await t.step(editor, () => {
      assertStringIncludes(text, '"/home/you/my \\"work\\"/gangway"');
      if (text.startsWith("{")) assertEquals(JSON.parse(text).agent_servers.Gangway.command, path);
    });
  }
});

Deno.test("help fits a terminal of 80 columns", () => {
  for (const text of [helpText(), HOST_HELP, SESSIONS_HELP]) {
    for (const line of text.split("\n")) assert(line.length <= 80, line);
  }
});

Deno.test("every task that the README names exists", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const named = [...readme.matchAll(/\btask ([a-z]+)/g)].map(([, name = ""]) => name);
  assert(named.length > 4);
  assertEquals(named.filter((name) => !(name in tasks)), []);
  for (const [name, task] of Object.entries<{ description?: string }>(tasks)) assert(task.description, name);
});
