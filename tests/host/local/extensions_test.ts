import { assertEquals, assertRejects } from "@std/assert";
import type {
  Engine,
  EngineExtensions,
  ExtensionInlet,
  ExtensionOutlet,
} from "../../../src/engine/contract.ts";
import type { ClientServices, RuntimeHost } from "../../../src/host/contract.ts";
import type { ExtensionAnswer, ExtensionEvent, ExtensionMessage } from "../../../src/model/extension.ts";
import { HostError } from "../../../src/host/errors.ts";
import { countingIds, keptLog, ManualClock, PROFILE, ScriptedEngine } from "./world.ts";
import { LIMITS, type Limits } from "../../../src/limits.ts";
import { LocalHost } from "../../../src/host/local/host.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";

const CLIENT: ClientServices = { readTextFile: true, writeTextFile: false, terminal: false, forms: false };
const forever = new AbortController().signal;

/** A Host whose Engine answers with what it was asked, and says what a test has it say. */
class Beyond implements AsyncDisposable {
  readonly host: LocalHost;
  readonly lines: string[] = [];
  readonly heard: ExtensionMessage[] = [];
  readonly clients: ClientServices[] = [];
  readonly engine: ScriptedEngine = new ScriptedEngine(() => new Promise(() => {}));
  outlet!: ExtensionOutlet;
  reply: (message: ExtensionMessage) => Promise<ExtensionAnswer> = (message) =>
    Promise.resolve({ kind: "result", result: { asked: message.method } });

  constructor(limits: Partial<Limits> = {}) {
    const inlet = (where: string): ExtensionInlet => ({
      call: (message, client) => {
        this.heard.push({ ...message, method: `${where} ${message.method}` });
        this.clients.push(client);
        return this.reply(message);
      },
      notify: (message) => {
        this.heard.push({ ...message, method: `${where} ${message.method}` });
        return Promise.resolve();
      },
    });
    this.engine.opening = () => Promise.resolve({ extensions: inlet("session") });
    const extensions: EngineExtensions = {
      ...inlet("engine"),
      connect: (outlet) => this.outlet = outlet,
    };
    const engine: Engine = {
      profile: PROFILE,
      extensions,
      open: (context) => this.engine.open(context),
      close: () => this.engine.close(),
    };
    this.host = new LocalHost({
      store: () => Promise.resolve(new MemoryStore()),
      engines: [engine],
      defaultEngine: "scripted",
      clock: new ManualClock(),
      ids: countingIds(),
      log: keptLog(this.lines),
      limits: { ...LIMITS, ...limits },
    });
  }

  /** A connection that listens; nothing is fetched but by `next`. */
  async listener(name: string): Promise<Listener> {
    const connection = this.host.connect(name);
    const over = new AbortController();
    const events = connection.extensions!.listen(CLIENT, over.signal)[Symbol.asyncIterator]();
    // It is known once something behind it was.
    await connection.extensions!.notify({ method: "_here", params: {} });
    return { connection, over, next: async () => (await events.next()).value };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
  }
}

interface Listener {
  readonly connection: RuntimeHost;
  readonly over: AbortController;
  next(): Promise<ExtensionEvent | undefined>;
}

async function session({ connection }: Listener, sessionId: string): Promise<void> {
  await connection.sessions.create({ sessionId, cwd: "/w", roots: [], mcpServers: [] });
}

function about(method: string, sessionId?: string): ExtensionMessage {
  return { ...(sessionId !== undefined && { sessionId }), method, params: sessionId ? { sessionId } : {} };
}

Deno.test("[E1] what an editor asks about a Session goes to that Session of the Engine, the rest to the Engine", async () => {
  await using beyond = new Beyond();
  const one = await beyond.listener("one");
  await session(one, "s1");
  beyond.heard.length = 0;
  const { extensions } = one.connection;
  assertEquals(await extensions!.call(about("_a"), forever), { kind: "result", result: { asked: "_a" } });
  await extensions!.call(about("_b", "s1"), forever);
  await extensions!.notify(about("_c", "s1"));
  assertEquals(beyond.heard.map(({ method }) => method), ["engine _a", "session _b", "session _c"]);
  assertEquals(beyond.clients, [CLIENT, CLIENT], "it is told who asks");
  await assertRejects(() => extensions!.call(about("_d", "s2"), forever), HostError, "s2");
});

Deno.test("[E1] what an Engine says about a Session goes to whom the Session is shown, the rest to who asked last", async () => {
  await using beyond = new Beyond();
  const [one, two] = [await beyond.listener("one"), await beyond.listener("two")];
  await session(one, "s1");
  await session(two, "s2");
  const said = async (listener: Listener, message: ExtensionMessage) => {
    beyond.outlet.notify(message);
    assertEquals(await listener.next(), { type: "notification", message });
  };
  await said(one, about("_1", "s1"));
  await said(two, about("_2", "s2"));
  await said(two, about("_3"));
  await one.connection.extensions!.call(about("_x"), forever);
  await said(one, about("_4"));
  // In order, although a Session has to be looked up.
  const order = ["_5", "_6", "_7"].map((method, at) => about(method, at === 0 ? "s1" : undefined));
  for (const message of order) beyond.outlet.notify(message);
  for (const message of order) assertEquals(await one.next(), { type: "notification", message });
  // The one that presents the Run counts more than the one that came last.
  await one.connection.turns.start({
    sessionId: "s1",
    turnId: "t1",
    input: { parts: [{ kind: "text", text: "x" }] },
  });
  await two.connection.sessions.open("s1", CLIENT);
  await said(one, about("_5", "s1"));
  // Nobody shows it any more: it goes to nobody else.
  await one.connection.sessions.release("s1");
  await two.connection.sessions.release("s1");
  assertEquals(await beyond.outlet.call(about("_6", "s1"), forever), {
    kind: "error",
    code: -32601,
    message: "Method not found: _6",
    data: { method: "_6" },
  });
});

Deno.test("[E1] a request of an Engine is answered by the editor that was asked, once, and by no other", async () => {
  await using beyond = new Beyond();
  const [one, two] = [await beyond.listener("one"), await beyond.listener("two")];
  const asked = beyond.outlet.call(about("_ask"), forever);
  const event = await two.next();
  if (event?.type !== "request") throw new Error("There was no request");
  const answer = { callId: event.callId, answer: { kind: "result", result: 1 } as const };
  const refused = async (listener: Listener) =>
    (await assertRejects(() => listener.connection.extensions!.answer(answer), HostError)).code;
  assertEquals(await refused(one), "unauthorized");
  await two.connection.extensions!.answer(answer);
  assertEquals(await asked, { kind: "result", result: 1 });
  assertEquals(await refused(two), "not_found");
});

/** Everything that ends a wait for an editor. */
const ENDINGS: Record<string, (beyond: Beyond, listener: Listener, taken: AbortController) => unknown> = {
  "the editor stops listening": (_, { over }) => over.abort(),
  "the editor's connection is closed": (_, { connection }) => connection.close(),
  "the Host is closed": ({ host }) => host.close(),
  "the Engine takes it back": (_, __, taken) => taken.abort(),
};
for (const [ending, end] of Object.entries(ENDINGS)) {
  Deno.test(`[E1] no request of an Engine waits for an editor after ${ending}`, async () => {
    await using beyond = new Beyond();
    const listener = await beyond.listener("one");
    const taken = new AbortController();
    const asked = beyond.outlet.call(about("_ask"), taken.signal);
    const event = await listener.next();
    await end(beyond, listener, taken);
    const answer = await asked;
    assertEquals(answer.kind === "error" && answer.code, -32603);
    if (ending !== "the Engine takes it back") return;
    const callId = event?.type === "request" ? event.callId : "";
    assertEquals(await listener.next(), { type: "request_cancelled", callId });
  });
}

Deno.test("[E1] what is too large passes in no direction, and what an editor does not fetch is bounded", async () => {
  await using beyond = new Beyond({ extensionLength: 100, extensionsWaiting: 3, extensionsLength: 150 });
  const listener = await beyond.listener("one");
  const { extensions } = listener.connection;
  const large = { method: "_large", params: { text: "x".repeat(100) } };
  const limit = (answer: ExtensionAnswer) => answer.kind === "error" && answer.data;
  const tooLarge = { code: "extension_too_large", limit: 100 };
  const refused = await assertRejects(() => extensions!.call(large, forever), HostError);
  assertEquals([refused.code, refused.data], ["capacity", { limit: 100 }]);
  beyond.reply = () => Promise.resolve({ kind: "result", result: "x".repeat(100) });
  assertEquals(limit(await extensions!.call(about("_a"), forever)), tooLarge);
  assertEquals(limit(await beyond.outlet.call(large, forever)), tooLarge);
  const asked = beyond.outlet.call(about("_b"), forever);
  const event = await listener.next();
  const callId = event?.type === "request" ? event.callId : "";
  await extensions!.answer({ callId, answer: { kind: "result", result: "x".repeat(100) } });
  assertEquals(limit(await asked), tooLarge);
  // In number, then in length.
  const dropped = () => beyond.lines.filter((line) => line.includes("does not keep up")).length;
  const settled = () => beyond.outlet.call(about("_more"), forever);
  for (const n of [1, 2, 3, 4]) beyond.outlet.notify({ method: `_${n}`, params: {} });
  assertEquals((await settled()).kind, "error");
  assertEquals(dropped(), 1);
  for (const n of [1, 2, 3]) {
    assertEquals(await listener.next(), { type: "notification", message: { method: `_${n}`, params: {} } });
  }
  for (const method of ["_5", "_6"]) beyond.outlet.notify({ method, params: { text: "x".repeat(80) } });
  const last = beyond.outlet.call(about("_7"), forever);
  // Until all of it is where it waits.
  await new ManualClock().turn();
  assertEquals((await listener.next())?.type, "notification");
  const seventh = await listener.next();
  assertEquals(seventh?.type === "request" && seventh.message.method, "_7");
  assertEquals(dropped(), 2);
  listener.over.abort();
  await last;
});

Deno.test("[E1] metadata of a load and of a setting reaches the Engine; what is too large does not", async () => {
  await using beyond = new Beyond({ metaBytes: 50 });
  const listener = await beyond.listener("one");
  const metas: unknown[] = [];
  beyond.engine.opening = (context) => {
    metas.push(context.meta);
    return Promise.resolve({
      configure: (_, meta) => {
        metas.push(meta);
        return Promise.resolve();
      },
    });
  };
  const { sessions, extensions } = listener.connection;
  await sessions.create({ sessionId: "s1", cwd: "/w", roots: [], mcpServers: [], meta: { n: 1 } });
  await sessions.bind({ sessionId: "s1", roots: [], mcpServers: [], meta: { n: 2 } });
  await sessions.bind({ sessionId: "s1", roots: [], mcpServers: [] });
  await extensions!.notify(about("_open", "s1"));
  const change = (changeId: string, expectedRevision: number, value: boolean, text: string) =>
    sessions.configure({
      sessionId: "s1",
      expectedRevision,
      changeId,
      changes: [{ id: "fast", value }],
      meta: { text },
    });
  await change("c1", 1, true, "short");
  await change("c2", 2, false, "x".repeat(50));
  await extensions!.notify(about("_last", "s1"));
  assertEquals(metas, [{ n: 2 }, { text: "short" }, undefined]);
});
