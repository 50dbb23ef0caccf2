import { assertEquals } from "@std/assert";
import type { Draft } from "../../src/session/draft.ts";
import { HostError } from "../../src/host/errors.ts";
import type { HostTurns } from "../../src/host/contract.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const WORDS: Draft = { parts: [{ kind: "text", text: "turn left" }], meta: { gangway: { steer: true } } };

/** A Turn at work and words for it. */
async function steered(steer: HostTurns["steer"] | undefined) {
  const stage = new Stage();
  stage.host.script.steer = steer;
  const sessionId = await stage.create();
  const first = await stage.prompt(sessionId);
  const turn = stage.turnId;
  const words = await stage.prompt(sessionId, WORDS);
  await settle();
  return { stage, sessionId, first, turn, words };
}

Deno.test("[P6] [E1] words for the Turn at work go to it and are answered; a prompt that does not say so waits", async () => {
  const inputs: unknown[] = [];
  const { stage, sessionId, first, turn, words } = await steered(({ input }) => {
    inputs.push(input);
    return Promise.resolve();
  });
  assertEquals(words.ending, { stop: "end_turn", meta: { gangway: { steered: turn } } });
  assertEquals(inputs, [{ parts: WORDS.parts, meta: WORDS.meta }]);
  const plain = await stage.prompt(sessionId, { parts: WORDS.parts, meta: { gangway: { steer: false } } });
  assertEquals([plain.ending, stage.host.ops("steer").length, stage.host.ops("start").length], [
    undefined,
    1,
    1,
  ]);
  stage.host.end(turn);
  await first.done;
  await settle();
  stage.host.end(stage.turnId);
  assertEquals(await plain.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P6] words that the Turn does not take are a prompt of their own, in order", async () => {
  const { stage, first, turn, words } = await steered(undefined);
  assertEquals([words.ending, stage.host.ops("start").length], [undefined, 1]);
  stage.host.end(turn);
  assertEquals(await first.done, { stop: "end_turn" });
  await settle();
  assertEquals(stage.host.ops("start").length, 2);
  stage.host.end(stage.turnId);
  assertEquals(await words.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P6] words while nothing runs are a prompt", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const words = await stage.prompt(sessionId, WORDS);
  stage.host.end(stage.turnId);
  assertEquals(await words.done, { stop: "end_turn" });
  assertEquals(stage.host.ops("steer"), []);
  await stage.sessions.shutdown();
});

Deno.test("[P2] [P6] a lost reply to words is asked for again under the same key, and is never a second prompt", async () => {
  let tries = 0;
  const { stage, first, turn, words } = await steered(() => {
    if (++tries < 3) return Promise.reject(new HostError("unavailable", "Lost", { dispatch: "unknown" }));
    return Promise.resolve();
  });
  assertEquals(words.ending, { stop: "end_turn", meta: { gangway: { steered: turn } } });
  assertEquals(new Set(stage.host.ops("steer")).size, 1);
  assertEquals([stage.host.ops("steer").length, stage.host.ops("start").length], [3, 1]);
  stage.host.end(turn);
  await first.done;
  await stage.sessions.shutdown();
});

Deno.test("[P2] [P6] words whose reply stays lost are an error, and no prompt", async () => {
  const { stage, first, turn, words } = await steered(() =>
    Promise.reject(new HostError("unavailable", "Lost", { dispatch: "unknown" }))
  );
  assertEquals(words.ending, { error: "outcome_unknown" });
  stage.host.end(turn);
  await first.done;
  assertEquals(stage.host.ops("start").length, 1);
  await stage.sessions.shutdown();
});

for (const how of ["cancel", "close"] as const) {
  Deno.test(`[C1] [P6] a ${how} answers words that are on their way, and they become no prompt`, async () => {
    const taken = Promise.withResolvers<void>();
    const { stage, sessionId, first, words } = await steered(() => taken.promise);
    assertEquals(words.ending, undefined);
    const closed = how === "cancel" ? stage.sessions.cancel(sessionId) : stage.sessions.close(sessionId);
    assertEquals(await words.done, { stop: "cancelled" });
    assertEquals((await first.done as { stop: string }).stop, "cancelled");
    await closed;
    taken.reject(new HostError("unavailable", "It has ended"));
    await settle();
    assertEquals(stage.host.ops("start").length, 1);
    await stage.sessions.shutdown();
  });
}
