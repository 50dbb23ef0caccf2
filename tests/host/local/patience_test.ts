import { assertEquals } from "@std/assert";
import { ended, opened, started, until, worldOf } from "./world.ts";

const DELTAS = 1000;

Deno.test("an Engine that outruns a reader waits a moment, and every delta arrives as it was made", async () => {
  await using world = worldOf(async (_turn, sink) => {
    for (let count = 0; count < DELTAS; count++) await sink.message("m", "text", "x");
  }, { limits: { patienceMs: 100 } });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  let deltas = 0;
  for (let over = false; !over;) {
    const { frames } = await subscription.next();
    deltas += frames.filter((frame) => frame.type === "message").length;
    over = frames.some((frame) => frame.type === "run_ended");
    // As slow as a transport that needs some turns for each batch.
    for (let turn = 0; turn < 5; turn++) await world.clock.turn();
  }
  assertEquals(deltas, DELTAS);
});

Deno.test("a reader that stalls is waited for once, then merged until it has caught up", async () => {
  const said = { first: 0, second: 0 };
  const again = Promise.withResolvers<void>();
  await using world = worldOf(async (_turn, sink) => {
    for (; said.first < DELTAS; said.first++) await sink.message("m", "text", "x");
    await again.promise;
    for (; said.second < DELTAS; said.second++) await sink.message("m", "text", "x");
  }, { limits: { patienceMs: 100 } });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await world.clock.turn();
  };
  await turns();
  assertEquals(said.first < DELTAS, true, "the Engine waits");
  await world.clock.advance(100);
  await turns();
  assertEquals(said.first, DELTAS, "and then goes on for good");
  await subscription.next();
  const caughtUp = subscription.next();
  again.resolve();
  await turns();
  assertEquals(said.second < DELTAS, true, "who has caught up is waited for again");
  await caughtUp;
  await world.clock.advance(100);
  await until(subscription, ended);
});

Deno.test("[C7] a Run that is stopped does not wait for a reader", async () => {
  let went = false;
  await using world = worldOf(async (_turn, sink, signal) => {
    while (!signal.aborted) await sink.message("m", "text", "x");
    went = true;
  }, { limits: { patienceMs: 100 } });
  const connection = world.host.connect("c1");
  await opened(connection);
  const run = await started(connection, "t1");
  for (let turn = 0; turn < 50; turn++) await world.clock.turn();
  await connection.turns.stop({ sessionId: "s1", run });
  for (let turn = 0; turn < 50; turn++) await world.clock.turn();
  assertEquals(went, true);
});
