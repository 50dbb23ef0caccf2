import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import type { McpServer } from "../../../src/host/contract.ts";
import type { RecordingSink } from "../sink.ts";
import { Stage } from "./stage.ts";

/** What the agent said that it got. */
function got(sink: RecordingSink): Record<string, unknown> {
  return JSON.parse(sink.said());
}

const RESTORING = {
  initialize: { agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } } },
};

Deno.test("[E1] a prompt keeps its text and the metadata of both", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const parts = [{ kind: "text", text: "prompt", meta: { a: 1 } }] as const;
  const { sink } = await visit.run(parts, { traceparent: "00-1" });
  assertEquals(got(sink), {
    prompt: [{ type: "text", text: "prompt", _meta: { a: 1 } }],
    _meta: { traceparent: "00-1" },
  });
});

Deno.test("[E2] fifty Sessions share one agent and do not mix", async () => {
  await using stage = new Stage();
  const visits = await Promise.all(
    Array.from({ length: 50 }, (_, at) => stage.open({ sessionId: `s${at}` })),
  );
  const runs = await Promise.all(visits.map((visit, at) => visit.run(`say from ${at}`)));
  runs.forEach(({ sink, outcome }, at) => {
    assertEquals(outcome.kind, "completed");
    assertEquals(sink.said(), `from ${at}`);
  });
  const agents = new Set(visits.map(({ host }) => JSON.stringify(host.states[0]).replace(/-.*/, "")));
  assertEquals(agents.size, 1);
});

Deno.test("[E4] a Session goes on in the same process without being opened again", async () => {
  await using stage = new Stage();
  const first = await stage.open();
  await first.run("say one");
  await first.session.close();
  const again = await stage.open({ restored: first.host.states[0] });
  const { sink } = await again.run("session");
  assertEquals(first.host.states, [{ sessionId: sink.said() }]);
  assertEquals(sink.all("notice"), []);
});

Deno.test("[E2] [E4] history that an agent sends behind the answer to a load is no part of the next prompt", async () => {
  const history = [{ sessionUpdate: "user_message_chunk", content: { type: "text", text: "hi" } }];
  const lateHistory = ["old", "older"].map((text) => ({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
  }));
  await using stage = new Stage({ ...RESTORING, history, lateHistory });
  const visit = await stage.open({ restored: { sessionId: "kept" } });
  const { sink } = await visit.run("replayed\nsay new");
  assertEquals(sink.said(), "new");
  assertEquals(stage.log.faults(), []);
});

Deno.test("[K1] [E2] an agent that counts its tools anew in another process gets other ids for them", async () => {
  const call = '{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"x","status":"completed"}';
  const ids = (sink: RecordingSink) => sink.all("toolStart").map(([, id]) => String(id));
  await using first = new Stage();
  const visit = await first.open();
  assertEquals(ids((await visit.run(`update ${call}`)).sink), ["call_1"]);
  await using second = new Stage();
  const again = await second.open({ restored: visit.host.states.at(-1) });
  const [renamed = ""] = ids((await again.run(`update ${call}`)).sink);
  assertNotEquals(renamed, "call_1");
  assertStringIncludes(renamed, "call_1");
});

Deno.test("[K1] [E2] an agent that counts its tools anew after it fell gets other ids for them", async () => {
  const call = 'update {"sessionUpdate":"tool_call","toolCallId":"call_1","title":"x","status":"completed"}';
  await using stage = new Stage();
  const visit = await stage.open();
  await visit.run(`${call}\nexit 1`);
  const { sink } = await visit.run(call);
  assertNotEquals(sink.all("toolStart").map(([, id]) => id), ["call_1"]);
});

Deno.test("[E4] a Session is loaded into another process, and its history is not shown again", async () => {
  const history = [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hi" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "old" } },
    { sessionUpdate: "tool_call", toolCallId: "t", title: "old" },
  ];
  await using stage = new Stage({ ...RESTORING, history });
  const visit = await stage.open({ restored: { sessionId: "kept" } });
  const { sink } = await visit.run("say new");
  assertEquals(visit.host.states, [{ sessionId: "kept", used: ["t"] }]);
  assertEquals(sink.order(), ["message"]);
  assertEquals(sink.said(), "new");
});

for (
  const { name, manners } of [
    { name: "cannot go on with it", manners: {} },
    { name: "lost it", manners: RESTORING },
  ]
) {
  Deno.test(`[E4] an agent that ${name} starts anew, and that is said`, async () => {
    await using stage = new Stage(manners);
    const visit = await stage.open({ restored: { sessionId: "kept" } });
    const { sink, outcome } = await visit.run("say new");
    assertEquals(outcome.kind, "completed");
    assertEquals(sink.said(), "new");
    assertEquals(sink.all("notice").map(([, severity, title]) => [severity, title]), [
      ["warning", "The agent starts without memory of this Session"],
    ]);
    assertNotEquals(visit.host.states[0], { sessionId: "kept" });
  });
}

Deno.test("[E4] [E2] a Session that a crash took is loaded into the next process", async () => {
  await using stage = new Stage({ ...RESTORING, history: [] });
  const visit = await stage.open();
  const { outcome } = await visit.run("exit 9");
  assert(outcome.kind === "failed");
  assertEquals(outcome.failure, {
    class: "engine_gone",
    message: "The agent ended by itself with exit code 9. The next prompt starts it again",
  });
  const { sink, outcome: next } = await visit.run("say back");
  assertEquals(next.kind, "completed");
  assertEquals(sink.said(), "back");
  assertEquals(visit.host.states[1], visit.host.states[0]);
  assertEquals(stage.log.faults(), ["crash"]);
});

Deno.test("[E2] folders and MCP servers go to the agent as it takes them, and what it does not take is said", async () => {
  const servers: McpServer[] = [
    { name: "files", command: "x", args: [], env: [] },
    { type: "http", name: "web", url: "http://localhost", headers: [] },
  ];
  const bound = { roots: ["/other"], mcpServers: servers };
  await using plain = new Stage();
  const { sink } = await (await plain.open(bound)).run("say x");
  assertEquals(sink.all("notice").map(([, , title]) => title), [
    "The agent takes no MCP servers over http",
    "The agent takes no additional folders",
  ]);
  await using able = new Stage({
    initialize: {
      agentCapabilities: {
        mcpCapabilities: { http: true },
        sessionCapabilities: { additionalDirectories: {} },
      },
    },
  });
  const run = await (await able.open({ ...bound, meta: { own: true } })).run("opened");
  assertEquals(run.sink.all("notice"), []);
  assertEquals(got(run.sink), {
    cwd: Deno.cwd(),
    mcpServers: servers,
    additionalDirectories: ["/other"],
    _meta: { own: true },
  });
});

Deno.test("[E2] an agent that wants a login fails the Turn as such, and names the ways", async () => {
  await using stage = new Stage({
    initialize: { authMethods: [{ id: "key", name: "API key" }] },
    opened: "login",
  });
  const visit = await stage.open();
  const { outcome } = await visit.run("say hello");
  assert(outcome.kind === "failed");
  assertEquals(outcome.failure.class, "authentication");
  assertEquals(
    outcome.failure.message,
    "The agent wants you to log in: it offers API key. Log in, then try again. It said: Authentication required",
  );
  assertEquals(outcome.failure.data, { code: -32000, authMethods: [{ id: "key", name: "API key" }] });
});

Deno.test("[E4] an agent that fails to take a Session up once keeps its memory of it: the next prompt tries again", async () => {
  await using stage = new Stage({ ...RESTORING, history: "busy" });
  const visit = await stage.open({ restored: { sessionId: "kept" } });
  const first = await visit.run("say new");
  assert(first.outcome.kind === "failed");
  assertStringIncludes(first.outcome.failure.message, "overloaded");
  assertEquals(visit.host.states, []);
  const { sink, outcome } = await visit.run("say new");
  assertEquals(outcome.kind, "completed");
  assertEquals(sink.all("notice").length, 1);
});

Deno.test("[E4] settings that an agent does not repeat for a Session stay, and those of one that was kept are set", async () => {
  const option = { id: "fast", name: "Fast", type: "boolean", value: true } as const;
  await using silent = new Stage({ ...RESTORING, history: [] });
  const restored = await silent.open({ restored: { sessionId: "kept" }, options: [option] });
  await restored.run("say x");
  assertEquals(restored.host.options, [option]);

  const opened = { configOptions: [{ id: "fast", name: "Fast", type: "boolean", currentValue: false }] };
  await using stage = new Stage({ opened });
  const first = await stage.open();
  await first.run("say x");
  await first.session.close();
  const again = await stage.open({ restored: first.host.states[0], options: [option] });
  const { sink } = await again.run("set");
  assertEquals(JSON.parse(sink.said()), [["session/set_config_option", true]]);
});
