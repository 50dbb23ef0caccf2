import { assert, assertEquals } from "@std/assert";
import { ClientGone, ResourceError } from "../../src/session/ports.ts";
import { Front } from "./front.ts";
import { HostError } from "../../src/host/errors.ts";
import { SessionError, type SessionErrorCode } from "../../src/session/errors.ts";

const SECRET = "hunter2";

/** What a prompt is answered with when it fails so. */
async function failing(failure: unknown): Promise<{ error: unknown; log: string[] }> {
  const front = new Front({ prepare: (sessions) => sessions.prompted = () => Promise.reject(failure) });
  const sessionId = await front.open();
  const { error } = await front.request("session/prompt", {
    sessionId,
    prompt: [{ type: "text", text: "x" }],
  });
  assertEquals((await front.request("session/list", {})).error, undefined, "the connection lives");
  await front.end();
  return { error, log: front.log.lines };
}

const codes: Record<SessionErrorCode, number> = {
  unknown_session: -32002,
  invalid_params: -32602,
  authentication_required: -32000,
  session_busy: -32603,
  queue_full: -32603,
  run_busy: -32603,
  turn_failed: -32603,
  turn_interrupted: -32603,
  outcome_unknown: -32603,
  unsupported_stream_revision: -32603,
  tool_presentation_capacity: -32603,
  missing_result: -32603,
  client_unsupported: -32603,
  host_unavailable: -32603,
  storage_failed: -32603,
  internal: -32603,
};

for (const [code, number] of Object.entries(codes) as [SessionErrorCode, number][]) {
  Deno.test(`[A2] ${code} crosses the wire as ${number} with its sentence and details`, async () => {
    const { error } = await failing(new SessionError(code, "A sentence", { failure: "engine" }));
    const named = code === "unknown_session" ? { sessionId: "s1" } : {};
    assertEquals(error, { code: number, message: "A sentence", data: { ...named, failure: "engine", code } });
  });
}

Deno.test("[A2] a linked file that cannot be taken is the parameters' fault", async () => {
  const { error } = await failing(new ResourceError("not_permitted", "The file may not be read"));
  assertEquals(error, { code: -32602, message: "The file may not be read", data: { code: "not_permitted" } });
});

Deno.test("[A8] a Host's own failure is told with its sentence and whether it was sent", async () => {
  const table: [HostError, number, object][] = [
    [new HostError("unavailable", "The Host is not there", { dispatch: "not_sent" }), -32603, {
      dispatch: "not_sent",
      code: "host_unavailable",
    }],
    [new HostError("not_found", "No such Session"), -32002, {
      sessionId: "s1",
      dispatch: "answered",
      code: "unknown_session",
    }],
    [new HostError("invalid", "No such option", { data: { at: "x" } }), -32602, {
      dispatch: "answered",
      code: "invalid_params",
    }],
    [new HostError("internal", "A fault", { dispatch: "unknown" }), -32603, {
      dispatch: "unknown",
      code: "internal",
    }],
  ];
  for (const [failure, code, data] of table) {
    const { error } = await failing(failure);
    assertEquals(error, { code, message: failure.message, data });
  }
});

Deno.test("[A8] a request that fails leaves the next one to try again", async () => {
  let tries = 0;
  const front = new Front({
    prepare: (sessions) =>
      sessions.page = () => {
        if (++tries === 1) throw new SessionError("host_unavailable", "The Host cannot be reached");
        return { sessions: [] };
      },
  });
  await front.initialize();
  assertEquals((await front.request("session/list", {})).error?.data, { code: "host_unavailable" });
  assertEquals((await front.request("session/list", {})).result, { sessions: [] });
  await front.end();
});

Deno.test("[A2] [S9] what nobody foresaw becomes one sentence; its words go nowhere, its place goes to the log", async () => {
  const surprises = [
    new TypeError(`Cannot read "${SECRET}"`),
    new SyntaxError(JSON.stringify({ token: SECRET })),
    SECRET,
    null,
    { message: SECRET },
    Object.assign(new Error(SECRET), { name: "AbortError" }),
  ];
  for (const surprise of surprises) {
    const { error, log } = await failing(surprise);
    assertEquals(error, {
      code: -32603,
      message: "Gangway failed in a way that it did not foresee; its log says where",
      data: { code: "internal" },
    });
    assert(log.some((line) => line.startsWith("error ") && line.includes('"method":"session/prompt"')));
    assert(!JSON.stringify(log).includes(SECRET));
  }
});

Deno.test("[S4] an operation on a Session that this connection does not have is refused by id, before any Host work", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  const operations: [method: string, params: object][] = [
    ["session/prompt", { prompt: [{ type: "text", text: "x" }] }],
    ["session/close", {}],
    ["session/set_mode", { modeId: "ask" }],
    ["session/set_config_option", { configId: "mode", value: "ask" }],
  ];
  for (const [method, params] of operations) {
    const { error } = await front.request(method, { sessionId: "other", ...params });
    assertEquals(
      [error?.code, error?.data],
      [-32002, { sessionId: "other", code: "unknown_session" }],
      method,
    );
  }
  assertEquals(front.host.asked, []);
  await front.end();
});

Deno.test("the failure of a gone Client is no surprise in the log", async () => {
  const { log } = await failing(new ClientGone());
  assertEquals(log.filter((line) => line.startsWith("error")), []);
});
