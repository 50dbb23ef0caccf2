import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { alone, behind } from "../engine/acp/outspoken.ts";
import { fields } from "../support/rules.ts";
import { type Launch, permitted, script, withFolder } from "../support/launch.ts";
import { newSession, openSession, tell } from "../support/talk.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { withEditor } from "../support/editor.ts";

const TERMINAL = { auth: { terminal: true } };
const METHODS: readonly JsonObject[] = [
  { id: "browser", name: "In the browser", description: "Opens a page", _meta: { n: 1 } },
  {
    id: "tui",
    name: "In a terminal",
    type: "terminal",
    args: ["--login", "now"],
    env: { TOKEN_KIND: "asked" },
  },
  { id: "odd", name: "By a means of its own", type: "telepathy" },
];
const [BROWSER, TUI] = METHODS as [JsonObject, JsonObject];
const traits = { hello: { authMethods: METHODS }, gated: true, variable: "TOKEN_KIND" };

/** What a program that was started in a terminal said and how it ended. `typed` is what the person there types. */
async function inTerminal(
  { program, args, env }: Launch,
  more: {
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly typed: string;
  },
): Promise<{ readonly said: JsonObject; readonly code: number; readonly errors: string }> {
  const child = new Deno.Command(program, {
    args: [...args, ...more.args],
    env: { ...env, ...more.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${more.typed}\n`));
  // Whoever takes this for the protocol ends with it.
  await writer.close();
  const { stdout, stderr, code } = await child.output();
  const [said, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { said: said?.startsWith("{") ? JSON.parse(said) : {}, code, errors: errors! };
}

/** The ways to log in that Gangway offers once it has met the agent. */
async function offeredBy(
  launch: Launch,
  folder: string,
  capabilities: JsonObject,
): Promise<readonly JsonObject[]> {
  let offered: readonly JsonObject[] = [];
  for (let start = 0; start < 2; start++) {
    await withEditor({ launch, capabilities, deadlineMs: 20_000 }, async (editor) => {
      const { authMethods } = await editor.initialize();
      if (start === 0) assertEquals(authMethods, []);
      offered = authMethods as readonly JsonObject[];
      await tell(editor, await newSession(editor, folder), "hello");
    });
  }
  return offered;
}

Deno.test("[E1] an agent's ways to log in are offered from its second start on, those of a terminal where there is one", async () => {
  for (const [capabilities, ids] of [[{}, "browser"], [TERMINAL, "browser,tui"]] as const) {
    await withFolder(async (folder) => {
      const offered = await offeredBy(behind(traits, "--state", `${folder}/state`), folder, capabilities);
      assertEquals(offered.map(({ id }) => id).join(), ids);
      assertEquals(offered[0], BROWSER);
    });
  }
});

Deno.test("[E1] a prompt that needs a login says so with the ways, and goes after authenticate; logout is passed on", async () => {
  const hello = { authMethods: METHODS, agentCapabilities: { auth: { logout: {} } } };
  await withEditor({ launch: behind({ ...traits, hello }), deadlineMs: 20_000 }, async (editor) => {
    const sessionId = await openSession(editor, Deno.cwd());
    const { answer } = await tell(editor, sessionId, "hello");
    assert("error" in answer, JSON.stringify(answer));
    assertEquals(answer.error.code, -32000);
    assertStringIncludes(answer.error.message, "In the browser");
    const { authMethods, code } = fields(answer.error.data);
    assertEquals([code, authMethods], ["authentication_required", [BROWSER]]);
    const [method] = authMethods as readonly JsonObject[];
    const methodId = method?.id ?? "";
    assertEquals(await editor.request("authenticate", { methodId, _meta: { n: 2 } }), {
      _meta: { by: "browser", with: { n: 2 } },
    });
    assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
    assertEquals(await editor.request("logout", {}), {});
    const other = await newSession(editor, Deno.cwd());
    assertEquals((await editor.refused("authenticate", {}, { judged: false })).code, -32602);
    const gated = (await tell(editor, other, "hello")).answer;
    assert("error" in gated && gated.error.code === -32000, JSON.stringify(gated));
  });
});

Deno.test("[E1] logout of an agent that has none, and logging in to the workbench, are methods that are not there", async () => {
  await withEditor({ launch: behind(), deadlineMs: 20_000 }, async (editor) => {
    await editor.initialize();
    assertEquals((await editor.refused("logout", {})).code, -32601);
  });
  await withEditor({}, async (editor) => {
    await editor.initialize();
    assertEquals((await editor.refused("authenticate", { methodId: "browser" })).code, -32601);
    assertEquals((await editor.refused("_echo", {})).code, -32601);
    editor.notify("_news", {});
  });
});

Deno.test("[E1] a way to log in by a terminal runs the agent itself there: the editor's own command with its arguments", async (t) => {
  await withFolder(async (folder) => {
    const { program, args } = alone(traits);
    const config = `${folder}/gangway.json`;
    const agent = { command: program, args, env: { TOKEN_KIND: "configured" } };
    await Deno.writeTextFile(config, JSON.stringify({ agents: { mine: agent }, defaultAgent: "mine" }));
    const launches: Record<string, Launch> = {
      "behind --": behind(traits, "--state", `${folder}/one`),
      "by its name": script("mod.ts", "--state", `${folder}/two`, "--config", config, "--agent", "mine"),
      "by default": script("mod.ts", "--state", `${folder}/three`, "--config", config),
    };
    for (const [how, launch] of Object.entries(launches)) {
      await t.step(how, async () => {
        const offered = await offeredBy(launch, folder, TERMINAL);
        const { args: words, env } = offered.find(({ id }) => id === "tui") as {
          readonly args: readonly string[];
          readonly env: Record<string, string>;
        };
        assertEquals(env, TUI.env);
        const { said, code, errors } = await inTerminal(launch, { args: words, env, typed: "7" });
        assertEquals([said.args, said.variable, code, errors], [["--login", "now"], "asked", 7, ""]);
        const success = await inTerminal(launch, { args: words, env, typed: "0" });
        assertEquals(success.code, 0);
      });
    }
  });
});

Deno.test("[E1] a login in a terminal needs the permission that the agent needs, and says which", async () => {
  const { program, args } = alone(traits);
  const words = [`--gangway-login=outspoken_agent`, "--login"];
  for (const flag of ["--allow-run=sh", `--allow-run=${program}`]) {
    const launch = permitted([flag], "mod.ts", "--memory", "--", program, ...args);
    const { said, code, errors } = await inTerminal(launch, { args: words, typed: "0" });
    assertEquals([said.args, code], [["--login"], 0], errors);
  }
  const launch = permitted([], "mod.ts", "--memory", "--", program, ...args);
  const { code, errors } = await inTerminal(launch, { args: words, typed: "0" });
  assertEquals(code, 126);
  assertStringIncludes(errors, `--allow-run=${program}`);
  const unknown = await inTerminal(launch, { args: ["--gangway-login=other"], typed: "0" });
  assertEquals(unknown.code, 126);
  assertStringIncludes(unknown.errors, `"other"`);
});

Deno.test("[E1] a signal to a login in a terminal is the agent's to act on", async () => {
  const { program, args, env } = behind(traits);
  const child = new Deno.Command(program, {
    args: [...args, "--gangway-login=outspoken_agent", "--login"],
    env: { ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  // It is there once it speaks.
  await reader.read();
  child.kill("SIGTERM");
  const { code, signal } = await child.status;
  assertEquals([code, signal], [143, null]);
  await reader.cancel();
  await child.stdin.close();
});
