import { assertEquals } from "@std/assert";
import type { ExtensionAnswer, ExtensionEvent, ExtensionMessage } from "../../src/model/extension.ts";
import { Front, type FrontOptions } from "./front.ts";
import type { HostExtensions } from "../../src/host/contract.ts";
import { LIMITS } from "../../src/limits.ts";

/** A Host that keeps what the editor says beyond the contract, and says what a test has it say. */
class Beyond implements HostExtensions {
  readonly said: ExtensionMessage[] = [];
  readonly answers: { readonly callId: string; readonly answer: ExtensionAnswer }[] = [];
  telling: Promise<void> = Promise.resolve();
  reply: ExtensionAnswer = { kind: "result", result: { more: 1, _meta: { n: 1 } } };
  #events: TransformStream<ExtensionEvent, ExtensionEvent> = new TransformStream();
  #writer: WritableStreamDefaultWriter<ExtensionEvent> = this.#events.writable.getWriter();
  #answered = Promise.withResolvers<void>();

  async *listen(_: unknown, signal: AbortSignal): AsyncGenerator<ExtensionEvent> {
    signal.addEventListener("abort", () => void this.#writer.close());
    yield* this.#events.readable;
  }

  call(message: ExtensionMessage): Promise<ExtensionAnswer> {
    this.said.push(message);
    return Promise.resolve(this.reply);
  }

  async notify(message: ExtensionMessage): Promise<void> {
    await this.telling;
    this.said.push(message);
  }

  answer(answer: { callId: string; answer: ExtensionAnswer }): Promise<void> {
    this.answers.push(answer);
    this.#answered.resolve();
    return Promise.resolve();
  }

  async event(event: ExtensionEvent): Promise<void> {
    await this.#writer.write(event);
  }

  answered(): Promise<void> {
    return this.#answered.promise;
  }
}

const BEYOND: FrontOptions = {
  judged: false,
  profile: {
    authMethods: [{ id: "a", name: "A" }],
    beyond: { capabilities: { auth: { logout: {} }, _meta: { x: 1 } }, meta: { y: 2 } },
  },
};

async function fronted(
  options: FrontOptions = BEYOND,
): Promise<{ front: Front; beyond: Beyond; sessionId: string }> {
  const front = new Front(options);
  const beyond = new Beyond();
  front.host.extensions = beyond;
  return { front, beyond, sessionId: await front.open() };
}

Deno.test("[E1] [A4] the handshake says what the Engine says of itself, out of the profile alone", async () => {
  const front = new Front({ ...BEYOND, judged: true });
  const { result } = await front.initialize();
  const { auth, _meta } = result?.agentCapabilities as Record<string, unknown>;
  assertEquals([auth, _meta, result?._meta], [{ logout: {} }, { x: 1 }, { y: 2 }]);
  assertEquals(result?.authMethods, [{ id: "a", name: "A" }]);
  assertEquals(front.host.asked, []);
  await front.end();
});

Deno.test("[E1] what the editor says of itself is kept for the Engine, where it is small enough", async () => {
  const said = async (params: object) => {
    const front = new Front({ judged: false });
    await front.request("initialize", { protocolVersion: 1, ...params });
    const { hello } = front.parts.client.abilities;
    await front.end();
    return hello;
  };
  const large = { text: "x".repeat(LIMITS.metaBytes) };
  assertEquals(await said({}), undefined);
  assertEquals(await said({ _meta: large, clientCapabilities: { _meta: [1] } }), undefined);
  const all = { _meta: { a: 1 }, clientCapabilities: { _meta: { b: 2 }, auth: { terminal: true } } };
  assertEquals(await said(all), { terminalLogin: true, meta: { a: 1 }, capabilities: { b: 2 } });
});

Deno.test("[E1] [S4] what an editor says about a Session that it does not own reaches no Host", async () => {
  const { front, beyond, sessionId } = await fronted();
  const { error } = await front.request("_a", { sessionId: "other" });
  assertEquals([error?.code, error?.data?.sessionId], [-32002, "other"]);
  await front.send({ jsonrpc: "2.0", method: "_b", params: { sessionId: "other" } });
  assertEquals((await front.request("_c", [1])).error?.code, -32602);
  assertEquals((await front.request("authenticate", { methodId: 5 })).error?.code, -32602);
  await front.request("_d", { sessionId, n: 1 });
  await front.send({ jsonrpc: "2.0", method: "_e" });
  await front.request("session/close", { sessionId });
  assertEquals((await front.request("_f", { sessionId })).error?.code, -32002);
  assertEquals(beyond.said, [
    { method: "_d", params: { sessionId, n: 1 }, sessionId },
    { method: "_e", params: {} },
  ]);
  await front.end();
});

Deno.test("[E1] authenticate and logout answer with metadata alone, an extension method with whatever there is", async () => {
  const { front, beyond } = await fronted();
  assertEquals((await front.request("authenticate", { methodId: "a" })).result, { _meta: { n: 1 } });
  assertEquals((await front.request("logout", {})).result, { _meta: { n: 1 } });
  assertEquals((await front.request("_a", {})).result, { more: 1, _meta: { n: 1 } });
  beyond.reply = { kind: "error", code: -32000, message: "Log in", data: { n: 2 } };
  assertEquals((await front.request("authenticate", { methodId: "a" })).error, {
    code: -32000,
    message: "Log in",
    data: { n: 2 },
  });
  await front.end();
});

Deno.test("[E1] nothing is said about a Session that the editor gave up, and the Engine is told so", async () => {
  const { front, beyond, sessionId } = await fronted();
  await front.request("session/close", { sessionId });
  await beyond.event({
    type: "notification",
    message: { sessionId, method: "_gone", params: { sessionId } },
  });
  await beyond.event({
    type: "request",
    callId: "1",
    message: { sessionId, method: "_gone", params: { sessionId } },
  });
  await beyond.answered();
  assertEquals(beyond.answers.map(({ answer }) => answer.kind === "error" && answer.code), [-32601]);
  await beyond.event({ type: "notification", message: { method: "_there", params: { n: 1 } } });
  const seen = await front.take(({ method }) => method?.startsWith("_") === true);
  assertEquals([seen.method, seen.params], ["_there", { n: 1 }]);
  await front.end();
});

Deno.test("[E1] a Host that passes nothing on has no extension methods, and an Engine that speaks none no logins", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  assertEquals((await front.request("_a", {})).error?.code, -32601);
  await front.send({ jsonrpc: "2.0", method: "_b", params: {} });
  await front.end();
  const { front: other, beyond } = await fronted({ judged: false });
  assertEquals((await other.request("authenticate", { methodId: "a" })).error?.code, -32601);
  assertEquals((await other.request("providers/list", {})).error?.code, -32601);
  assertEquals(beyond.said, []);
  await other.end();
});

Deno.test("[E1] what an editor asks does not come before what it told, but for a login", async () => {
  const { front, beyond } = await fronted();
  const { promise, resolve } = Promise.withResolvers<void>();
  beyond.telling = promise;
  const asked = front.message("_b", {});
  await front.send({ jsonrpc: "2.0", method: "_a", params: {} }, asked);
  await front.request("authenticate", { methodId: "a" });
  assertEquals(beyond.said.map(({ method }) => method), ["authenticate"]);
  resolve();
  await front.answer(asked.id);
  assertEquals(beyond.said.map(({ method }) => method), ["authenticate", "_a", "_b"]);
  const late = front.message("_d", {});
  beyond.telling = new Promise(() => {});
  await front.send({ jsonrpc: "2.0", method: "_c", params: {} }, late);
  await front.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: late.id } });
  assertEquals((await front.answer(late.id)).error?.code, -32800);
  await front.end();
});

Deno.test("[E1] what waits to be told is bounded", async () => {
  const { front, beyond } = await fronted();
  const { promise, resolve } = Promise.withResolvers<void>();
  beyond.telling = promise;
  for (let n = 0; n < LIMITS.extensionsWaiting + 1; n++) {
    await front.send({ jsonrpc: "2.0", method: "_n", params: { n } });
  }
  await front.request("authenticate", { methodId: "a" });
  beyond.said.length = 0;
  resolve();
  await front.request("_last", {});
  assertEquals(beyond.said.length, LIMITS.extensionsWaiting + 1);
  assertEquals(beyond.said.at(-2)?.params, { n: LIMITS.extensionsWaiting - 1 });
  await front.end();
});
