import { assertEquals } from "@std/assert";
import type { Manners } from "./scripted_agent.ts";
import { Stage } from "./stage.ts";

const STEERED: Manners = {
  initialize: { agentCapabilities: { _meta: { gangway: { steering: "_test/steer" } } } },
};
const INPUT = { parts: [{ kind: "text", text: "turn left" }], meta: { m: 1 } } as const;

Deno.test("[E1] words reach an agent while it works by the method that it names", async () => {
  await using stage = new Stage(STEERED);
  const visit = await stage.open();
  const { sink, outcome } = visit.start("say a\nsteered");
  await sink.when(([name]) => name === "message");
  assertEquals(await visit.session.steer?.("turn1", INPUT), true);
  await outcome;
  assertEquals(JSON.parse(sink.said().slice(1)), {
    prompt: [{ type: "text", text: "turn left" }],
    _meta: { m: 1 },
  });
});

const refused: readonly { name: string; manners?: Manners; turnId: string; prompt: string }[] = [
  { name: "that names no method", manners: {}, turnId: "turn1", prompt: "say a\nwait" },
  { name: "that works on another Turn", turnId: "turn7", prompt: "say a\nsteered" },
  { name: "that does not want them now", turnId: "turn1", prompt: "say a\nwait" },
  {
    name: "that does not know its own method",
    manners: { initialize: { agentCapabilities: { _meta: { gangway: { steering: "_test/none" } } } } },
    turnId: "turn1",
    prompt: "say a\nwait",
  },
];
for (const { name, manners = STEERED, turnId, prompt } of refused) {
  Deno.test(`[E1] [E2] words are not taken by an agent ${name}`, async () => {
    await using stage = new Stage(manners);
    const visit = await stage.open();
    const { sink, stop, outcome } = visit.start(prompt);
    await sink.when(([name]) => name === "message");
    assertEquals(await visit.session.steer?.(turnId, INPUT), false);
    stop.abort(new Error("stop"));
    await outcome;
  });
}
