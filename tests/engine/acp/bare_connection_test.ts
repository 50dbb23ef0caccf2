import { assertEquals } from "@std/assert";
import { alone, behind } from "./outspoken.ts";
import { Editor, type EditorOptions } from "../../support/editor.ts";
import { fields } from "../../support/rules.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { type Launch, withFolder } from "../../support/launch.ts";
import { newSession } from "../../support/talk.ts";
import type { Traits } from "./outspoken_agent.ts";

const TRAITS: Traits = {
  hello: {
    authMethods: [
      { id: "browser", name: "In the browser", description: "Opens a page", _meta: { n: 1 } },
      { id: "tui", name: "In a terminal", type: "terminal", args: ["--login"], env: { KIND: "tui" } },
    ],
    agentCapabilities: {
      auth: { logout: {}, status: {} },
      providers: {},
      sessionCapabilities: { resume: {}, close: {} },
      _meta: { custom: { queueing: true } },
    },
    _meta: { build: "b7" },
  },
  commands: [{ name: "web", description: "Search", input: { hint: "words" } }],
};

const COMMANDS = "available_commands_update";

/** One exchange about the connection: what the editor sends, with `SESSION` for the Session's id. */
type Step = readonly [method: string, params: JsonObject];

const STEPS: readonly Step[] = [
  ["_echo", { a: 1, _meta: { n: 1 } }],
  ["_echo", { sessionId: "SESSION", deep: { sessionId: "SESSION" } }],
  ["_list", {}],
  ["_fail", {}],
  ["_nobody", {}],
  ["_ask", { method: "_fine", params: { n: 1 } }],
  ["_ask", { method: "_nobody", params: {} }],
  ["auth/status", {}],
  ["providers/list", {}],
  ["providers/set", { providerId: "p", apiType: "openai", baseUrl: "http://localhost" }],
  ["logout", {}],
  ["authenticate", { methodId: "browser", _meta: { n: 2 } }],
  ["auth/status", {}],
  ["session/fork", { sessionId: "SESSION", cwd: "/" }],
  ["session/set_model", { sessionId: "SESSION", modelId: "m" }],
];

interface Recording {
  readonly hello: JsonObject;
  /** The answer to each step. */
  readonly answers: readonly Json[];
  readonly commands: Json;
  /** What the agent heard about the connection, its editor's greeting included. */
  readonly heard: readonly JsonObject[];
}

async function record(launch: Launch, cwd: string): Promise<Recording> {
  const options: EditorOptions = {
    launch,
    deadlineMs: 20_000,
    capabilities: { auth: { terminal: true }, _meta: { "terminal-auth": true } },
    answers: { _fine: (params) => ({ got: params }) },
  };
  const editor = new Editor(options);
  try {
    const hello = await editor.request("initialize", {
      ...editor.hello(),
      _meta: { trace: "t" },
    }) as JsonObject;
    const { sessionId } = await editor.request("session/new", { cwd, mcpServers: [] }) as {
      sessionId: string;
    };
    const { availableCommands } = await editor.updated(
      sessionId,
      ({ sessionUpdate }) => sessionUpdate === COMMANDS,
      "the commands",
    );
    const answers: Json[] = [];
    for (const [method, params] of STEPS) {
      const text = JSON.stringify(params).replaceAll('"SESSION"', JSON.stringify(sessionId));
      const answer = await editor.call(method, JSON.parse(text), { judged: false });
      answers.push(JSON.parse(JSON.stringify(answer).replaceAll(/"own-\d+"|"[^"]{36}"/g, '"SESSION"')));
    }
    const { heard } = await editor.request("_heard", {}) as { readonly heard: readonly JsonObject[] };
    return { hello, answers, commands: availableCommands as Json, heard };
  } finally {
    await editor.kill();
  }
}

Deno.test("[E1] a connection with an agent is behind Gangway what it is alone, but for what is written down", async () => {
  await withFolder(async (folder) => {
    const bare = await record(alone(TRAITS), folder);
    const gangway = behind(TRAITS, "--state", `${folder}/state`);
    // Written down: what an agent says of itself is there from its second start on.
    const meeting = new Editor({
      launch: gangway,
      capabilities: { auth: { terminal: true } },
      deadlineMs: 20_000,
    });
    try {
      await meeting.initialize();
      const sessionId = await newSession(meeting, folder);
      await meeting.request("_echo", { sessionId });
      await meeting.updated(sessionId, ({ sessionUpdate }) => sessionUpdate === COMMANDS, "the commands");
    } finally {
      await meeting.endInput();
      await meeting.exited();
    }
    const together = await record(gangway, folder);

    for (const [at, [method]] of STEPS.entries()) {
      assertEquals(together.answers[at], differing(method, bare.answers[at]!), `${at}: ${method}`);
    }
    assertEquals(together.commands, bare.commands);
    assertEquals(together.hello._meta, bare.hello._meta);
    const { auth, providers, _meta } = fields(together.hello.agentCapabilities);
    const said = fields(bare.hello.agentCapabilities);
    assertEquals([auth, providers, _meta], [said.auth, said.providers, said._meta]);
    const [browser, tui] = bare.hello.authMethods as readonly JsonObject[];
    const words = ["--gangway-login=outspoken_agent,KIND", "--login"];
    assertEquals(together.hello.authMethods, [browser!, { ...tui, args: words }]);

    const greeting = ({ heard }: Recording) => fields(heard[0]?.params);
    assertEquals(greeting(together)._meta, greeting(bare)._meta);
    const offered = (recording: Recording) => fields(greeting(recording).clientCapabilities);
    for (const name of ["auth", "_meta"]) assertEquals(offered(together)[name], offered(bare)[name], name);
  });
});

/** What Gangway answers otherwise than the agent. */
function differing(method: string, answer: Json): Json {
  if (!("error" in fields(answer))) return answer;
  const error = fields(fields(answer).error);
  // Gangway names the method that it does not pass on.
  if (["session/fork", "session/set_model"].includes(method)) {
    return { error: { code: -32601, message: `Method not found: ${method}`, data: { method } } };
  }
  return { error } as JsonObject;
}
