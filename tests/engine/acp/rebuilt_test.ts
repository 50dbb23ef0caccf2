import { assertEquals, assertStringIncludes } from "@std/assert";
import { withoutRecap } from "../../../src/engine/acp/recap.ts";
import type { Json } from "../../../src/model/json.ts";
import type { RecordingSink } from "../sink.ts";
import type { Remembered } from "../../../src/engine/remembered.ts";
import { Stage, type Visit } from "./stage.ts";

const HISTORY: readonly Remembered[] = [
  { kind: "user", text: "Remember 7" },
  { kind: "tool", title: "Look", status: "completed" },
  { kind: "text", text: "I will" },
];
const LOADS = { initialize: { agentCapabilities: { loadSession: true } } };
const LOST = { restored: { sessionId: "kept" }, history: HISTORY };

/** The texts of the prompt that the agent says it got. */
function heard(sink: RecordingSink): string[] {
  const { prompt } = JSON.parse(sink.said()) as { prompt: { text: string }[] };
  return prompt.map(({ text }) => text);
}

/** The titles of what the person was told. */
function told(sink: RecordingSink): unknown[] {
  return sink.all("notice").map(([, , title]) => title);
}

function last(visit: Visit): Json {
  return visit.host.states.at(-1) ?? null;
}

for (const manners of [{}, LOADS]) {
  const what = manners === LOADS ? "that lost a Session" : "without a way to go on with Sessions";
  Deno.test(`[E4] an agent ${what} gets a recap before the user's words, once, and that is said`, async () => {
    await using stage = new Stage(manners);
    const visit = await stage.open(LOST);
    const first = await visit.run("prompt");
    const [recap = "", words, ...more] = heard(first.sink);
    assertEquals(withoutRecap(recap), "");
    assertStringIncludes(recap, "> Remember 7\n");
    assertEquals([words, more], ["prompt", []]);
    assertEquals(told(first.sink), ["The agent lost this Session and was given a recap of it"]);
    assertStringIncludes(String(first.sink.all("notice")[0]?.[3]), "the last 3 entries");
    const second = await visit.run("prompt");
    assertEquals(heard(second.sink), ["prompt"]);
    assertEquals(told(second.sink), []);
  });
}

Deno.test("[E4] a Session that was rebuilt and is loaded later gets no second recap", async () => {
  await using first = new Stage();
  const rebuilt = await first.open(LOST);
  await rebuilt.run("prompt");
  const restored = last(rebuilt);
  assertEquals(Object.keys(restored as object), ["sessionId"]);
  await using next = new Stage({ ...LOADS, history: [] });
  const visit = await next.open({ restored, history: HISTORY });
  const { sink } = await visit.run("prompt");
  assertEquals(heard(sink), ["prompt"]);
  assertEquals(told(sink), []);
});

Deno.test("[E4] an agent that dies over its recap gets it again, with the next prompt", async () => {
  await using stage = new Stage();
  const visit = await stage.open(LOST);
  const fallen = await visit.run("exit 3");
  assertEquals(fallen.outcome.kind, "failed");
  const { sink } = await visit.run("prompt");
  assertEquals(withoutRecap(heard(sink)[0]!), "");
  assertEquals(told(sink).length, 1);
});

Deno.test("[E4] a recap that was not heard is given in the next process, whichever way the Session is opened", async () => {
  await using first = new Stage();
  const cut = await first.open(LOST);
  await cut.run("exit 3");
  assertEquals((last(cut) as { recap?: string }).recap, "owed");
  await using next = new Stage({ ...LOADS, history: [] });
  const visit = await next.open({ restored: last(cut), history: HISTORY });
  const { sink } = await visit.run("prompt");
  assertEquals(withoutRecap(heard(sink)[0]!), "");
  assertEquals(told(sink), [], "the Session itself was not lost again");
  assertEquals(Object.keys(last(visit) as object), ["sessionId"]);
});

Deno.test("[E4] a prompt that the agent answers with an error leaves the recap owed; one that was stopped at work does not", async () => {
  await using stage = new Stage();
  const visit = await stage.open(LOST);
  await visit.run('fail {"code":-32603,"message":"overloaded"}');
  const again = visit.start("say on\nwait");
  await again.sink.when(([kind]) => kind === "message");
  again.stop.abort();
  await again.outcome;
  const { sink } = await visit.run("prompt");
  assertEquals(heard(sink), ["prompt"]);
});

Deno.test("[E4] a prompt that is stopped before the agent is there loses neither the recap nor what is said about it", async () => {
  await using stage = new Stage();
  const visit = await stage.open(LOST);
  const early = visit.start("say never");
  early.stop.abort();
  await early.outcome;
  const { sink } = await visit.run("prompt");
  assertEquals(withoutRecap(heard(sink)[0]!), "");
  assertEquals(told(sink).length, 1);
});

Deno.test("[E4] a Session that the agent still has gets no recap", async () => {
  await using stage = new Stage({ ...LOADS, history: [] });
  const { sink } = await (await stage.open(LOST)).run("prompt");
  assertEquals(heard(sink), ["prompt"]);
  await using fresh = new Stage();
  const begun = await (await fresh.open({ history: HISTORY })).run("prompt");
  assertEquals(heard(begun.sink), ["prompt"], "a Session that no agent ever had is not lost");
});
