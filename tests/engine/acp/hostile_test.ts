import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { EngineOutcome } from "../../../src/engine/contract.ts";
import type { Fault } from "../../../src/engine/acp/faults.ts";
import { type KeptLog, Stage, type Visit } from "./stage.ts";
import type { Manners } from "./scripted_agent.ts";

const END: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

/** The next prompt works, whatever came before. */
async function works(visit: Visit): Promise<void> {
  const { sink, outcome } = await visit.run("say fine");
  assertEquals(outcome, END);
  assertEquals(sink.said(), "fine");
}

const faulty: readonly {
  readonly name: string;
  readonly prompt: string;
  readonly fault: Fault;
  readonly manners?: Manners;
  /** What is shown all the same. */
  readonly said?: string;
}[] = [
  { name: "noise on stdout", prompt: "raw Loading…\nsay a", fault: "noise", said: "a" },
  { name: "JSON that is no message", prompt: "raw [1]\nraw 7\nraw {}\nsay a", fault: "noise", said: "a" },
  {
    name: "noise before its first answer",
    manners: { lines: ["Welcome!"] },
    prompt: "say a",
    fault: "noise",
    said: "a",
  },
  { name: "a huge line", prompt: "huge\nsay a", fault: "oversize", said: "a" },
  {
    name: "an answer to nothing",
    prompt: 'raw {"jsonrpc":"2.0","id":99,"result":{}}\nsay a',
    fault: "stray",
    said: "a",
  },
  {
    name: "an update of another's Session",
    prompt:
      'raw {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}\nsay a',
    fault: "foreign",
    said: "a",
  },
  {
    name: "an update of no kind",
    prompt: 'update {"sessionUpdate":"dance"}\nupdate {}\nsay a',
    fault: "unknown",
    said: "a",
  },
  {
    name: "an update without params",
    prompt: 'raw {"jsonrpc":"2.0","method":"session/update"}\nsay a',
    fault: "malformed",
    said: "a",
  },
  {
    name: "a chunk without content",
    prompt: 'update {"sessionUpdate":"agent_message_chunk"}\nsay a',
    fault: "malformed",
    said: "a",
  },
  {
    name: "a tool without an id",
    prompt: 'update {"sessionUpdate":"tool_call","title":"x"}\nsay a',
    fault: "malformed",
    said: "a",
  },
  {
    name: "text that becomes thinking under one id",
    prompt:
      'update {"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"a"}}\n' +
      'update {"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"b"}}',
    fault: "channel",
    said: "a",
  },
  {
    name: "news of a tool that has ended",
    prompt: 'update {"sessionUpdate":"tool_call","toolCallId":"t","title":"x","status":"completed"}\n' +
      'update {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress"}',
    fault: "ended_tool",
  },
  {
    name: "a tool left open",
    prompt: 'update {"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}',
    fault: "open_tool",
  },
  { name: "a cancel of its own", prompt: "stop cancelled", fault: "own_cancel" },
  {
    name: "a notification of its own",
    prompt: 'raw {"jsonrpc":"2.0","method":"_own/news"}\nsay a',
    fault: "unheard",
    said: "a",
  },
  {
    name: "a request of its own",
    prompt: 'raw {"jsonrpc":"2.0","id":"q","method":"_own/ask","params":{}}\nsay a',
    fault: "refused",
    said: "a",
  },
];
for (const { name, prompt, fault, manners, said } of faulty) {
  Deno.test(`[E2] ${name} is counted as "${fault}" and does no harm`, async () => {
    await using stage = new Stage(manners);
    const visit = await stage.open();
    const { sink, outcome } = await visit.run(prompt);
    assertEquals(outcome.kind, "completed");
    if (said !== undefined) assertEquals(sink.said(), said);
    await works(visit);
    assertEquals(stage.log.faults(), [fault]);
  });
}

Deno.test("[E2] what an agent says about a Session before it names it is kept", async () => {
  const early = [{
    sessionUpdate: "available_commands_update",
    availableCommands: [{ name: "web", description: "Search" }],
  }];
  await using stage = new Stage({ early });
  const visit = await stage.open();
  await works(visit);
  assertEquals(visit.host.commands, [[{ name: "web", description: "Search" }]]);
});

const ends: readonly {
  readonly name: string;
  readonly manners?: Manners;
  readonly prompt?: string;
  readonly kind: string;
  readonly says: string;
}[] = [
  { name: "dies in initialize", manners: { initialize: "exit" }, kind: "engine_gone", says: "exit code 7" },
  {
    name: "speaks another version",
    manners: { initialize: { protocolVersion: 2 } },
    kind: "unsupported",
    says: "version 2",
  },
  { name: "dies in session/new", manners: { opened: "exit" }, kind: "engine_gone", says: "exit code 8" },
  {
    name: "names no Session",
    manners: { opened: { sessionId: 7 } },
    kind: "engine",
    says: "did not say which",
  },
  { name: "dies in a prompt", prompt: "exit 1", kind: "engine_gone", says: "exit code 1" },
  { name: "dies in mid-speech", prompt: "say a\nexit 0", kind: "engine_gone", says: "exit code 0" },
  {
    name: "fails a prompt",
    prompt: 'fail {"code":-32603,"message":"Internal error","data":{"details":"quota exceeded"}}',
    kind: "engine",
    says: "Internal error: quota exceeded",
  },
  { name: "ends for no known reason", prompt: "stop tired", kind: "engine", says: "reason" },
  { name: "fails without a word", prompt: "fail {}", kind: "engine", says: "The agent could not answer" },
];
for (const { name, manners, prompt = "say a", kind, says } of ends) {
  Deno.test(`[E2] an agent that ${name} fails the Turn truly`, async () => {
    await using stage = new Stage(manners);
    const visit = await stage.open();
    const { outcome } = await visit.run(prompt);
    assert(outcome.kind === "failed", JSON.stringify(outcome));
    assertEquals(outcome.failure.class, kind);
    assertStringIncludes(outcome.failure.message, says);
    if (manners === undefined) await works(visit);
  });
}

for (const manners of [{ initialize: "hang" }, { opened: "hang" }] satisfies Manners[]) {
  Deno.test(`[E2] [C7] a Turn is stopped while the agent hangs in ${Object.keys(manners)[0]}`, async () => {
    await using stage = new Stage(manners);
    const visit = await stage.open();
    const { stop, outcome } = visit.start("say a");
    stop.abort(new Error("stop"));
    assertEquals(await outcome, END);
    await visit.session.close();
  });
}

Deno.test("[E2] [C7] a cancel is told to the agent, whose answer ends the wait", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink, stop, outcome } = visit.start("say a\nwait");
  await sink.when(([name]) => name === "message");
  stop.abort(new Error("stop"));
  await outcome;
  await works(visit);
  assertEquals(stage.log.faults(), []);
});

Deno.test("[E2] an agent that ignores a cancel is replaced; a Turn of another Session ends in peace", async () => {
  await using stage = new Stage();
  const [deaf, other] = await Promise.all([stage.open({ sessionId: "a" }), stage.open({ sessionId: "b" })]);
  const long = other.start(
    "say b\nask session/request_permission " +
      '{"toolCall":{"toolCallId":"t"},"options":[{"optionId":"o","name":"O","kind":"allow_once"}]}',
  );
  await long.sink.when(([name]) => name === "ask");
  const { sink, stop, outcome } = deaf.start("say a\nhang");
  await sink.when(([name]) => name === "message");
  const since = performance.now();
  stop.abort(new Error("stop"));
  await outcome;
  assert(performance.now() - since < 1000, "The stopped Turn stays too long");
  const next = await deaf.run("session");
  assertEquals(next.outcome, END);
  const [first, second] = deaf.host.states.map((state) => JSON.stringify(state));
  assert(second !== undefined && first !== second, "The prompt went to the agent that is deaf");
  assertEquals(next.sink.all("notice").length, 1);
  assertEquals(stage.log.faults(), ["deaf"]);
  long.stop.abort(new Error("stop"));
  await long.outcome;
  await works(other);
});

Deno.test("[E2] an agent that falls again and again is started ever later", async () => {
  await using stage = new Stage({ initialize: "exit" });
  const visit = await stage.open();
  const since = performance.now();
  for (let times = 0; times < 3; times++) {
    const { outcome } = await visit.run("say a");
    assert(outcome.kind === "failed");
    assertStringIncludes(outcome.failure.message, "exit code 7");
  }
  const ms = performance.now() - since;
  assert(ms > 250 + 500, `Three starts took ${ms} ms`);
});

Deno.test("[E2] an agent that takes its own question back is not counted for it", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  await visit.run('raw {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}');
  assertEquals(stage.log.faults(), []);
});

Deno.test("[E2] a flood reaches the Host whole and in order", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink, outcome } = await visit.run("flood 20000");
  assertEquals(outcome, END);
  assertEquals(sink.said(), Array.from({ length: 20_000 }, (_, at) => `${at} `).join(""));
});

Deno.test("[E2] ids that an agent uses again are told apart, and chunks keep their messages", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const chunk = (text: string) =>
    `update {"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"${text}"}}`;
  const tool = 'update {"sessionUpdate":"tool_call","toolCallId":"call_1","title":"x","status":"completed"}';
  const prompt = [chunk("a"), tool, chunk("b")].join("\n");
  const ids: string[][] = [];
  for (let turn = 0; turn < 2; turn++) {
    const { sink } = await visit.run(prompt);
    ids.push([...sink.all("message").map(([, id]) => id), ...sink.all("toolStart").map(([, id]) => id)]);
  }
  assertEquals(ids[0], ["m", "m", "call_1"]);
  assertEquals(new Set([...ids[0] ?? [], ...ids[1] ?? []]).size, 4);
});

Deno.test("[E2] nothing of what the agent was given stands in the log", async () => {
  await using stage = new Stage({ lines: ["token=hunter2"] });
  const visit = await stage.open({
    mcpServers: [{ name: "x", command: "x", args: [], env: [{ name: "KEY", value: "hunter3" }] }],
  });
  await visit.run("raw hunter4\nsay a\nstop hunter5");
  const kept: KeptLog = stage.log;
  assert(!JSON.stringify(kept.lines).includes("hunter"), JSON.stringify(kept.lines));
});
