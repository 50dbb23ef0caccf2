import { assert, assertEquals } from "@std/assert";
import { CONFIG, info } from "./fakes.ts";
import { Front, type FrontOptions } from "./front.ts";
import { LIMITS } from "../../src/limits.ts";
import type { SessionInfo, SessionPage } from "../../src/host/contract.ts";

const booleans = { session: { configOptions: { boolean: {} } } };
const select = (currentValue: string) => ({
  id: "mode",
  name: "Mode",
  category: "mode",
  type: "select",
  currentValue,
  options: [{ value: "ask", name: "Ask" }, { value: "read_only", name: "Read only" }],
});
const toggle = (currentValue: boolean) => ({ id: "verbose", name: "Verbose", type: "boolean", currentValue });

/** A front with one Session, and the answer that made it. */
async function opened(options: FrontOptions = {}) {
  const front = new Front(options);
  await front.initialize();
  const { result } = await front.request("session/new", { cwd: "/work", mcpServers: [] });
  return { front, result, sessionId: String(result?.sessionId) };
}

Deno.test("[G1] a new Session is answered with its modes and, in step with them, its options", async () => {
  for (
    const [capabilities, options] of [[{}, [select("ask")]], [booleans, [
      select("ask"),
      toggle(false),
    ]]] as const
  ) {
    // The checker of the wire takes the second kind of option for an unknown one.
    const { front, result } = await opened({ capabilities, judged: capabilities !== booleans });
    assertEquals(result, {
      sessionId: "s1",
      modes: {
        currentModeId: "ask",
        availableModes: [{ id: "ask", name: "Ask" }, { id: "read_only", name: "Read only" }],
      },
      configOptions: options,
    });
    await front.end();
  }
});

Deno.test("[G1] a Session without settings is answered without any", async () => {
  const { front, result } = await opened({
    prepare: (sessions) => sessions.created = (id) => info(id, { config: { revision: 0, options: [] } }),
  });
  assertEquals(result, { sessionId: "s1" });
  await front.end();
});

Deno.test("[G3] a mode and an option are set alike; the option's answer is the complete list", async () => {
  const { front, sessionId } = await opened({ capabilities: booleans, judged: false });
  assertEquals((await front.request("session/set_mode", { sessionId, modeId: "read_only" })).result, {});
  const set = await front.request("session/set_config_option", {
    sessionId,
    configId: "mode",
    value: "read_only",
  });
  assertEquals(set.result, { configOptions: [select("read_only"), toggle(false)] });
  const toggled = await front.request("session/set_config_option", {
    sessionId,
    configId: "verbose",
    type: "boolean",
    value: true,
  });
  assertEquals(toggled.result, { configOptions: [select("ask"), toggle(true)] });
  assertEquals(front.sessions.calls.filter((call) => call.startsWith("configure")), [
    "configure s1 mode=read_only",
    "configure s1 mode=read_only",
    "configure s1 verbose=true",
  ]);
  await front.end();
});

Deno.test("[G3] modes work whatever the option behind them is called, also where that changes", async () => {
  const permission = CONFIG.options.map((option) =>
    option.category === "mode" ? { ...option, id: "permission" } : option
  );
  const { front, sessionId } = await opened({
    prepare: (sessions) =>
      sessions.created = (id) => info(id, { config: { revision: 1, options: permission } }),
  });
  const setMode = () => front.request("session/set_mode", { sessionId, modeId: "read_only" });
  await setMode();
  await setMode();
  assertEquals(front.sessions.calls.filter((call) => call.startsWith("configure")), [
    "configure s1 permission=read_only",
    "configure s1 mode=read_only",
  ]);
  await front.end();
});

Deno.test("[G3] bad values are refused and nothing changes", async () => {
  const { front, sessionId } = await opened({ judged: false });
  const table: [method: string, params: object][] = [
    ["session/set_mode", { modeId: "nowhere" }],
    ["session/set_config_option", { configId: "mode", value: "nowhere" }],
    ["session/set_config_option", { configId: "mode", type: "boolean", value: "ask" }],
    ["session/set_config_option", { configId: "verbose", value: true }],
    // Offered to nobody who did not say that he takes booleans.
    ["session/set_config_option", { configId: "verbose", type: "boolean", value: true }],
  ];
  for (const [method, params] of table) {
    const { error } = await front.request(method, { sessionId, ...params });
    assertEquals(error?.code, -32602, JSON.stringify(params));
  }
  await front.end();
});

Deno.test("[S6] a list says what a Client needs, with dates and without what is not there", async () => {
  const page: SessionPage = {
    sessions: [
      info("a", { title: "A title", roots: ["/one", "/two"], createdAt: 1 }),
      info("b", { cwd: "/elsewhere" }),
    ],
    cursor: "next",
  };
  const front = new Front({ prepare: (sessions) => sessions.page = () => page });
  await front.initialize();
  const { result } = await front.request("session/list", { cwd: "/work", cursor: "here" });
  assertEquals(result, {
    sessions: [
      {
        sessionId: "a",
        cwd: "/work",
        updatedAt: "2026-01-02T03:04:05.000Z",
        additionalDirectories: ["/one", "/two"],
        title: "A title",
      },
      { sessionId: "b", cwd: "/elsewhere", updatedAt: "2026-01-02T03:04:05.000Z" },
    ],
    nextCursor: "next",
  });
  assertEquals(front.sessions.calls, [`list {"cwd":"/work","cursor":"here","limit":${LIMITS.listPage}}`]);
  await front.end();
});

Deno.test("[S6] null means nothing wanted, and so do missing parameters", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  for (const params of [undefined, null, {}, { cwd: null, cursor: null }]) {
    assertEquals((await front.request("session/list", params)).result, { sessions: [] });
  }
  assertEquals(new Set(front.sessions.calls), new Set([`list {"limit":${LIMITS.listPage}}`]));
  await front.end();
});

Deno.test("[A1] [S6] a page of long entries is cut so that its line stays short, and nothing is skipped", async () => {
  const all: SessionInfo[] = Array.from(
    { length: 100 },
    (_, index) => info(`s${index}`, { cwd: `/${"ü".repeat(1000)}/${index}`, title: "t".repeat(256) }),
  );
  const front = new Front({
    prepare: (sessions) =>
      sessions.page = ({ cursor = "0", limit = 0 }) => {
        const from = Number(cursor);
        const to = from + limit;
        return { sessions: all.slice(from, to), ...(to < all.length && { cursor: `${to}` }) };
      },
  });
  await front.initialize();
  const seen: unknown[] = [];
  let cursor: unknown;
  do {
    const { result } = await front.request("session/list", cursor === undefined ? {} : { cursor });
    seen.push(...result?.sessions as { sessionId: string }[]);
    cursor = result?.nextCursor;
  } while (cursor !== undefined);
  assertEquals(seen.map((entry) => (entry as SessionInfo).sessionId), all.map(({ sessionId }) => sessionId));
  const longest = Math.max(...front.wire.entries.map((entry) => entry.bytes));
  assert(longest <= LIMITS.outputLineBytes && longest > LIMITS.outputLineBytes / 4, `${longest} bytes`);
  await front.end();
});
