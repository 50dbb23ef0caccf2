import { assert, assertEquals } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import type { Interaction } from "../../src/model/question.ts";
import { LIMITS } from "../../src/limits.ts";
import { ClientRefused } from "../../src/session/ports.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

/** A prompt whose Turn has asked for a permission. */
async function asking(change: Partial<Interaction> = {}) {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const run = stage.host.run(stage.turnId);
  stage.host.frame({ type: "tool_start", run, toolCallId: "tool" });
  const interaction: Interaction = {
    interactionId: "q",
    run,
    toolCallId: "tool",
    kind: "permission",
    message: "Run make?",
    options: [{ optionId: "yes", name: "Allow", effect: "allow" }, {
      optionId: "no",
      name: "Reject",
      effect: "deny",
    }],
    ...change,
  };
  stage.host.pending.set("q", interaction);
  stage.host.frame({ type: "interaction_opened", interaction });
  await settle();
  return { stage, sessionId, asked, run, interaction };
}

Deno.test("[I2] the chosen option goes to the Host, once", async () => {
  const { stage, asked } = await asking();
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await settle();
  assertEquals(stage.host.ops("answer", "stop"), ["answer q yes"]);
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

const MADE_UP: readonly [string, unknown][] = [
  ["null", null],
  ["nothing", undefined],
  ["a string", "yes"],
  ["no outcome", {}],
  ["an unknown outcome", { outcome: { outcome: "approved" } }],
  ["an unknown option", { outcome: { outcome: "selected", optionId: "sure" } }],
  ["an option of the wrong type", { outcome: { outcome: "selected", optionId: 1 } }],
  ["no option", { outcome: { outcome: "selected" } }],
];

for (const [name, response] of MADE_UP) {
  Deno.test(`[I3] ${name} never approves: the prompt fails and its Run is stopped`, async () => {
    const { stage, asked } = await asking();
    stage.client.requests[0]!.answer(response);
    assertEquals(await asked.done, { error: "client_unsupported" });
    assertEquals(stage.host.ops("answer", "stop"), [`stop ${stage.turnId}`]);
    await stage.sessions.shutdown();
  });
}

Deno.test("[I4] a question that was answered elsewhere is withdrawn and sends nothing", async () => {
  const { stage, asked, run } = await asking();
  stage.host.frame({
    type: "interaction_closed",
    interactionId: "q",
    run,
    reason: "answered",
    by: "elsewhere",
  });
  await settle();
  assert(stage.client.events.some((event) => event.kind === "cancelled"));
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  assertEquals(stage.host.ops("answer"), []);
  await stage.sessions.shutdown();
});

const PAGE = { url: "https://example.com", elicitationId: "e" };

/** A page that a person was sent to, with its answer. */
async function page(response: unknown): Promise<{ stage: Stage; told: () => unknown[] }> {
  const stage = new Stage();
  stage.client.abilities = { ...stage.client.abilities, urls: true };
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  asked.done.catch(() => {});
  const run = stage.host.live.get(stage.turnId)!.run;
  const interaction = {
    interactionId: "q",
    run,
    kind: "url",
    message: "Go",
    options: [],
    page: PAGE,
  } as const;
  stage.host.frame({ type: "interaction_opened", interaction });
  await settle();
  stage.client.requests[0]!.answer(response);
  await settle();
  return {
    stage,
    told: () =>
      stage.client.events.flatMap((event) => event.kind === "told" ? [[event.method, event.params]] : []),
  };
}

Deno.test("[E1] [I1] the end of a page is told once, to the editor that agreed to it", async () => {
  const { stage, told } = await page({ action: "accept" });
  assertEquals(stage.client.requests[0]?.method, "elicitation/create");
  assertEquals(stage.host.ops("answer"), ["answer q values"]);
  for (const elicitationId of ["other", "e", "e"]) stage.host.frame({ type: "elicited", elicitationId });
  await settle();
  assertEquals(told(), [["elicitation/complete", { elicitationId: "e" }]]);
  await stage.sessions.shutdown();
});

Deno.test("[E1] [I6] a page that is declined or closed is an answer of its own, and its end is not told", async () => {
  for (const action of ["decline", "cancel"]) {
    const { stage, told } = await page({ action });
    assertEquals(stage.host.ops("answer", "stop"), [`answer q ${action}`]);
    stage.host.frame({ type: "elicited", elicitationId: "e" });
    await settle();
    assertEquals(told(), []);
    await stage.sessions.shutdown();
  }
});

Deno.test("[I4] already_resolved is asked again, not an error", async () => {
  const { stage, asked } = await asking();
  stage.host.script.answer = () => Promise.reject(new HostError("already_resolved", "Answered elsewhere"));
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await settle();
  assertEquals(stage.host.ops("answer", "interaction", "stop"), ["answer q yes", "interaction q"]);
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[I2] an answer whose reply was lost is given again by its key", async () => {
  const { stage, asked } = await asking();
  let tries = 0;
  stage.host.script.answer = () =>
    tries++ < 2
      ? Promise.reject(new HostError("unavailable", "Lost", { dispatch: "unknown" }))
      : Promise.resolve();
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "no" } });
  await stage.clock.advance(1000);
  assertEquals(stage.host.ops("answer", "stop"), ["answer q no", "answer q no", "answer q no"]);
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

for (const code of [-32601, -32603]) {
  Deno.test(`[I5] a Client that refuses the dialog (${code}) fails the prompt with a Stop, nothing stays pending`, async () => {
    const { stage, asked } = await asking();
    stage.client.requests[0]!.refuse(new ClientRefused(code, "No"));
    assertEquals(await asked.done, { error: "client_unsupported" });
    assertEquals(stage.host.ops("stop").length, 1);
    assertEquals(stage.client.cardStatus("tool"), "failed");
    await stage.sessions.shutdown();
  });
}

Deno.test("[I5] a form for a Client without forms fails the prompt before any request", async () => {
  const stage = new Stage();
  stage.client.abilities = { ...stage.client.abilities, forms: false };
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const run = stage.host.run(stage.turnId);
  const interaction: Interaction = {
    interactionId: "q",
    run,
    kind: "form",
    message: "Name?",
    options: [],
    fields: [{ name: "name", type: "string", required: true }],
  };
  stage.host.frame({ type: "interaction_opened", interaction });
  assertEquals(await asked.done, { error: "client_unsupported" });
  assertEquals(stage.client.requests, []);
  await stage.sessions.shutdown();
});

Deno.test("[I6] cancelling a permission stops the Turn and sends no answer", async () => {
  const { stage, asked } = await asking();
  stage.client.requests[0]!.answer({ outcome: { outcome: "cancelled" } });
  assertEquals(await asked.done, { stop: "cancelled" });
  assertEquals(stage.host.ops("answer", "stop"), [`stop ${stage.turnId}`]);
  await stage.sessions.shutdown();
});

Deno.test("[I6] declining and cancelling a form are answers of their own", async () => {
  for (const action of ["decline", "cancel"] as const) {
    const { stage, asked } = await asking({
      kind: "form",
      options: [],
      fields: [{ name: "name", type: "string", required: true }],
    });
    stage.client.requests[0]!.answer({ action });
    await settle();
    assertEquals(stage.host.ops("answer", "stop"), [`answer q ${action}`]);
    stage.host.end(stage.turnId);
    assertEquals(await asked.done, { stop: "end_turn" });
    await stage.sessions.shutdown();
  }
});

Deno.test("[I7] a question of a Run that is presented elsewhere is not shown here", async () => {
  const { stage, asked } = await asking();
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  stage.host.end(stage.turnId);
  await asked.done;
  stage.host.begin("foreign", { origin: { kind: "connection", connectionId: "x" }, presenter: "x" });
  const interaction: Interaction = {
    interactionId: "other",
    run: stage.host.run("foreign"),
    kind: "permission",
    message: "?",
    options: [],
  };
  stage.host.frame({ type: "interaction_opened", interaction });
  await settle();
  assertEquals(stage.client.requests.length, 1);
  await stage.sessions.shutdown();
});

Deno.test("[I8] the same question after a reconnect is shown once", async () => {
  const { stage, asked } = await asking();
  stage.host.evict("lost");
  await stage.clock.advance(100);
  assertEquals(stage.client.requests.length, 1);
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await settle();
  assertEquals(stage.host.ops("answer"), ["answer q yes"]);
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[I4] a question that a new snapshot lacks is withdrawn", async () => {
  const { stage, asked } = await asking();
  stage.host.pending.clear();
  stage.host.evict("lost");
  await stage.clock.advance(100);
  assert(stage.client.events.some((event) => event.kind === "cancelled"));
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[C4] [I8] a cancel ends the dialog at once, tells the Client, and a late answer goes nowhere", async () => {
  const { stage, sessionId, asked } = await asking();
  stage.host.script.stop = () => Promise.resolve();
  stage.sessions.cancel(sessionId);
  await settle();
  assert(stage.client.events.some((event) => event.kind === "cancelled"));
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await stage.clock.advance(LIMITS.cancelMs);
  assertEquals((asked.ending as { stop: string }).stop, "cancelled");
  assertEquals(stage.host.ops("answer"), []);
  await stage.sessions.shutdown();
});

Deno.test("[I9] the card comes before its dialog and is not touched while it is open", async () => {
  const { stage, asked, run } = await asking();
  const kinds = stage.client.events.map((event) =>
    event.kind === "update" ? event.update.sessionUpdate : event.kind
  );
  assert(kinds.indexOf("tool_call") < kinds.indexOf("request"));
  const before = stage.client.events.length;
  stage.host.frame({ type: "tool_progress", run, toolCallId: "tool", message: "waiting" });
  await stage.clock.advance(1000);
  assertEquals(stage.client.events.length, before);
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await settle();
  assert(stage.client.events.length > before);
  stage.host.end(stage.turnId);
  await asked.done;
  await stage.sessions.shutdown();
});

Deno.test("[I9] [P8] a prompt that is given up takes its dialog back before its card ends", async () => {
  const { stage, asked } = await asking();
  stage.host.live.delete(stage.turnId);
  stage.host.script.query = () =>
    Promise.reject(new HostError("unavailable", "Lost", { dispatch: "unknown" }));
  // The question is still listed, so only the end of the prompt can take it back.
  stage.host.evict("lost");
  await stage.clock.advance(LIMITS.queryTries * (LIMITS.queryMs + 2000));
  assertEquals(asked.ending, { error: "outcome_unknown" });
  const last = stage.client.events.slice(-2).map((event) => event.kind);
  assertEquals(last, ["cancelled", "update"]);
  await stage.sessions.shutdown();
});

Deno.test("[I9] [K9] a permission that is about no tool has a card of its own, which ends with it", async () => {
  const { stage, asked } = await asking({ toolCallId: undefined });
  assertEquals(stage.client.cardStatus("q"), "pending");
  const { toolCall } = stage.client.requests[0]!.params as { toolCall: { toolCallId: string } };
  assertEquals(toolCall.toolCallId, "q");
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await settle();
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  assert(["completed", "failed"].includes(String(stage.client.cardStatus("q"))));
  await stage.sessions.shutdown();
});
