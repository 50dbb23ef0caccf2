import { assert, assertEquals } from "@std/assert";
import type { EngineOutcome } from "../../../src/engine/contract.ts";
import { FakeHost, KeptLog, Stage, type Visit } from "./stage.ts";
import { Faults } from "../../../src/engine/acp/faults.ts";
import { LateTurn } from "../../../src/engine/acp/late.ts";
import { OwnTerminals } from "../../../src/engine/acp/terminals.ts";
import { systemClock } from "../../../src/system.ts";
import { UsedIds } from "../../../src/engine/acp/voices.ts";

const END: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

const words = (text: string, messageId?: string) =>
  JSON.stringify({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
    ...(messageId !== undefined && { messageId }),
  });
const TOOL = { sessionUpdate: "tool_call", toolCallId: "t", title: "x" };

/** What was said beside the Turns, once all of it has ended. */
async function beside({ host }: Visit, runs: number): Promise<string[]> {
  await host.when(() => host.late.length === runs);
  return await Promise.all(host.late.map(async ({ sink, outcome }) => {
    assertEquals(await outcome, END);
    return sink.said();
  }));
}

for (const step of ["after", "later 20"]) {
  Deno.test(`[E2] what an agent says behind its answer (${step}) is shown beside the prompt, and the next one works`, async () => {
    await using stage = new Stage();
    const visit = await stage.open();
    const { sink, outcome } = await visit.run(`say a\n${step} ${words("late")}\n${step} ${words(" words")}`);
    assertEquals(outcome, END);
    assertEquals(sink.said(), "a");
    assertEquals(await beside(visit, 1), ["late words"]);
    const next = await visit.run("say fine");
    assertEquals(next.sink.said(), "fine");
    assertEquals(stage.log.faults(), ["late"]);
  });
}

Deno.test("[E2] the next prompt ends what an agent says beside prompts, and its words are its own", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  await visit.run(`after ${JSON.stringify(TOOL)}`);
  await visit.host.when(() => visit.host.late.length === 1);
  const [late] = visit.host.late;
  await late!.sink.when(([name]) => name === "toolStart");
  let over = false;
  void late!.outcome.then(() => over = true);
  const { sink } = await visit.run("say fine");
  // An open tool would have kept it.
  assert(over);
  assertEquals(sink.said(), "fine");
  assertEquals(stage.log.faults(), ["late", "open_tool"]);
});

Deno.test("[E2] news of a tool that a prompt left open shows no second card", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const news = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" };
  await visit.run(`update ${JSON.stringify(TOOL)}\nafter ${words("done")}\nafter ${JSON.stringify(news)}`);
  assertEquals(await beside(visit, 1), ["done"]);
  assertEquals(visit.host.late[0]?.sink.order(), ["message"]);
  assert(stage.log.faults().includes("ended_tool"));
});

Deno.test("[E2] a message id that was used goes on under another one beside the prompt", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink } = await visit.run(`update ${words("a", "m")}\nafter ${words("b", "m")}`);
  assertEquals(await beside(visit, 1), ["b"]);
  const ids = [sink, visit.host.late[0]!.sink].map((each) => each.all("message")[0]?.[1]);
  assertEquals(ids[0], "m");
  assert(ids[1] !== "m");
});

Deno.test("[E2] what comes behind a cancelled prompt belongs to it and is not shown", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink, stop, outcome } = visit.start(`say a\nwait\nafter ${words("late")}`);
  await sink.when(([name]) => name === "message");
  stop.abort(new Error("stop"));
  await outcome;
  // Words that come when the next prompt has been sent cannot be told from its own.
  await stage.log.fault("idle");
  const next = await visit.run("say fine");
  assertEquals(next.sink.said(), "fine");
  assertEquals(visit.host.late, []);
  assertEquals(stage.log.faults(), ["idle"]);
});

Deno.test("[E2] an agent that never stops speaking beside prompts speaks in one Run after the other, in order", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const said = Array.from({ length: 5000 }, (_, at) => `${at} `);
  await visit.run(said.map((each) => `after ${words(each)}`).join("\n"));
  const runs = await beside(visit, 3);
  assertEquals(runs.join(""), said.join(""));
});

Deno.test("[E2] a Session that is closed ends what is said beside its prompts", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  await visit.run(`after ${JSON.stringify(TOOL)}`);
  await visit.host.when(() => visit.host.late.length === 1);
  await visit.session.close();
  assertEquals(await visit.host.late[0]?.outcome, END);
});

Deno.test("[E2] what waits behind words that the Host has not taken yet holds the agent up, however much that is", async () => {
  const before = Promise.withResolvers<void>();
  const host = new FakeHost({}, []);
  const late = new LateTurn({
    context: host.context(),
    faults: new Faults(new KeptLog()),
    used: new UsedIds(),
    terminals: new OwnTerminals(() => true),
    after: before.promise,
    over: () => {},
  });
  for (let at = 0; at < 600; at++) late.push(JSON.parse(words(`${at} `)));
  let roomy = false;
  const room = late.room()?.then(() => roomy = true);
  await systemClock.turn();
  assert(room !== undefined && !roomy);
  before.resolve();
  await room;
  late.end();
  await late.done;
  assert(host.late[0]?.sink.said().endsWith(" 599 "));
});
