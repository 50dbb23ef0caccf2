import { assert, assertEquals } from "@std/assert";
import { Front } from "./front.ts";
import config from "../../deno.json" with { type: "json" };
import type { EngineProfile } from "../../src/host/contract.ts";

Deno.test("[A4] the handshake says who this is and what it can do, and reaches nothing", async () => {
  const front = new Front();
  const { result } = await front.initialize();
  assertEquals(result, {
    protocolVersion: 1,
    agentInfo: { name: "gangway", title: "Gangway", version: config.version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    },
    authMethods: [],
  });
  assertEquals(front.host.asked, []);
  await front.end();
  assertEquals(front.host.asked, []);
  assertEquals(front.sessions.calls, ["shutdown"]);
});

Deno.test("[A4] version 1 is the answer whatever is asked", async () => {
  for (const protocolVersion of [1, 2, 0, -7, 65536, 1.5, "0.1"]) {
    const front = new Front({ judged: false });
    const { result } = await front.request("initialize", { protocolVersion, unknown: { field: 1 } });
    assertEquals(result?.protocolVersion, 1, String(protocolVersion));
    await front.end();
  }
});

Deno.test("[A4] what the Engine's profile lacks is not advertised", async () => {
  const front = new Front({
    profile: {
      prompt: { image: false, audio: true, embeddedContext: false },
      mcp: { http: false, sse: false },
    },
  });
  const { result } = await front.initialize();
  const { promptCapabilities, mcpCapabilities } = result?.agentCapabilities as Record<string, unknown>;
  assertEquals(promptCapabilities, { image: false, audio: true, embeddedContext: false });
  assertEquals(mcpCapabilities, { http: false, sse: false });
  await front.end();
});

/** Each optional method and where the handshake says that it is there. */
const METHODS: [
  method: string,
  advertised: (capabilities: Record<string, unknown>, sessions: object) => boolean,
][] = [
  ["session/load", (capabilities) => capabilities.loadSession === true],
  ["session/resume", (_, sessions) => "resume" in sessions],
  ["session/list", (_, sessions) => "list" in sessions],
  ["session/close", (_, sessions) => "close" in sessions],
  ["session/delete", (_, sessions) => "delete" in sessions],
  ["session/fork", () => false],
  ["authenticate", () => false],
  ["logout", () => false],
];

Deno.test("[A4] a method is there exactly when the handshake says so", async () => {
  const front = new Front({ judged: false });
  const { result } = await front.initialize();
  const capabilities = result?.agentCapabilities as Record<string, unknown>;
  for (const [method, advertised] of METHODS) {
    // Parameters that no method takes: a method that is there complains of them.
    const { error } = await front.request(method, 5);
    const there = advertised(capabilities, capabilities.sessionCapabilities as object);
    assertEquals(error?.code, there ? -32602 : -32601, method);
    if (!there) assertEquals(error?.data, { method });
  }
  await front.end();
});

Deno.test("[A4] login methods are offered where the Client can carry them out, and hold nothing of another shape", async () => {
  const authMethods: EngineProfile["authMethods"] = [
    { type: "terminal", id: "login", name: "Log in", args: ["login", 5], env: { A: "b", C: 1 }, more: true },
    { id: "agent", name: "By the agent" },
    { type: "terminal", id: 5, name: "No id" },
  ];
  const offered = [{ type: "terminal", id: "login", name: "Log in", args: ["login"], env: { A: "b" } }];
  for (const [capabilities, methods] of [[{}, []], [{ auth: { terminal: true } }, offered]] as const) {
    const front = new Front({ profile: { authMethods }, capabilities });
    assertEquals((await front.initialize()).result?.authMethods, methods);
    await front.end();
  }
});

Deno.test("[A4] a second handshake is answered and what it says counts from then on", async () => {
  const front = new Front();
  await front.open();
  assert(!front.parts.client.abilities.terminal);
  await front.request("initialize", { protocolVersion: 1, clientCapabilities: { terminal: true } });
  assert(front.parts.client.abilities.terminal);
  assertEquals(front.sessions.owned.size, 1);
  await front.end();
});
