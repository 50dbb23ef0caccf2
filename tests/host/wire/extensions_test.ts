import { assertEquals, assertRejects } from "@std/assert";
import type { HostExtensions, RuntimeHost } from "../../../src/host/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import { NO_SERVICES, worldOf } from "../local/world.ts";
import { Wire } from "./line.ts";
import { watched } from "./watched.ts";

/** What an editor and an Engine say to each other, as the Host's side hears it. */
function heardBy(heard: string[]): HostExtensions {
  return {
    async *listen(client, signal) {
      heard.push(`listens ${client.forms}`);
      yield { type: "request", callId: "c1", message: { method: "agent/asks", params: { deep: [1, null] } } };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      heard.push("listens no more");
    },
    call: ({ method, params }, signal) => {
      heard.push(`call ${method}`);
      if (method !== "slow") return Promise.resolve({ kind: "result", result: params });
      return new Promise((_, refuse) =>
        signal.addEventListener("abort", () => {
          heard.push("cancelled");
          refuse(signal.reason);
        }, { once: true })
      );
    },
    notify: ({ method }) => {
      heard.push(`notify ${method}`);
      return Promise.resolve();
    },
    answer: ({ callId, answer }) => {
      heard.push(`answer ${callId} ${answer.kind}`);
      return Promise.resolve();
    },
  };
}

Deno.test("[W2] [W3] what editors and Engines say beyond the contract goes over the wire, once, and can be cancelled", async () => {
  await using world = worldOf(() => Promise.resolve());
  const heard: string[] = [];
  const connect = (id: string): RuntimeHost => ({
    ...watched(world.host.connect(id), () => {}),
    extensions: heardBy(heard),
  });
  await using wire = new Wire({ host: world.host, clock: world.clock, connect, limits: { steadyMs: 0 } });
  const remote = await wire.connect("c1");
  const { extensions } = remote;
  if (extensions === undefined) throw new Error("Nothing is passed on");
  const forever = new AbortController().signal;
  const stop = new AbortController();
  const events = extensions.listen({ ...NO_SERVICES, forms: true }, stop.signal)[Symbol.asyncIterator]();
  assertEquals((await events.next()).value, {
    type: "request",
    callId: "c1",
    message: { method: "agent/asks", params: { deep: [1, null] } },
  });
  await extensions.answer({ callId: "c1", answer: { kind: "error", code: -1, message: "No" } });
  assertEquals(await extensions.call({ method: "echo", params: { a: [1] } }, forever), {
    kind: "result",
    result: { a: [1] },
  });
  await extensions.notify({ method: "told", params: {} });
  const cancel = new AbortController();
  const cancelled = assertRejects(
    () => extensions.call({ method: "slow", params: {} }, cancel.signal),
    Error,
    "enough",
  );
  while (!heard.includes("call slow")) await world.clock.turn();
  cancel.abort(new Error("enough"));
  await cancelled;
  while (!heard.includes("cancelled")) await world.clock.turn();
  const lost = assertRejects(() => extensions.call({ method: "slow", params: {} }, forever), HostError);
  while (heard.filter((each) => each === "call slow").length < 2) await world.clock.turn();
  wire.tap.cut();
  assertEquals((await lost).dispatch, "unknown");
  stop.abort();
  while (!heard.includes("listens no more")) await world.clock.turn();
  assertEquals(heard, [
    "listens true",
    "answer c1 error",
    "call echo",
    "notify told",
    "call slow",
    "cancelled",
    "call slow",
    "cancelled",
    "listens no more",
  ]);
});

Deno.test("[W2] a Host that passes nothing on offers nothing beyond its contract", async () => {
  await using world = worldOf(() => Promise.resolve());
  const connect = (id: string): RuntimeHost => watched(world.host.connect(id), () => {});
  await using wire = new Wire({ host: world.host, clock: world.clock, connect });
  assertEquals((await wire.connect("c1")).extensions, undefined);
});
