import { assertEquals, assertRejects } from "@std/assert";
import { RequestError } from "@agentclientprotocol/sdk";
import { FakeClock, FakeHost, FakeLog, FakeSessions, NO_FILES, profile } from "./fakes.ts";
import { Client } from "../../src/acp/client.ts";
import { LineWriter } from "../../src/acp/writer.ts";
import { Methods } from "../../src/acp/methods.ts";
import { type Offer, OFFERED } from "../../src/acp/negotiation.ts";

const never = new AbortController().signal;
const place = { cwd: "/work", additionalDirectories: ["/more"], mcpServers: [] };

/** The method table with everything offered that Sessions can do, or with less. */
function everything(less: Partial<Offer> = {}) {
  const log = new FakeLog();
  const client = new Client(new LineWriter(new WritableStream(), 1000), log);
  const clock = new FakeClock();
  const host = new FakeHost(profile());
  const sessions = new FakeSessions({ host, client, files: NO_FILES, clock, ids: { next: () => "id" }, log });
  const follows: (() => void)[] = [];
  const methods = new Methods({
    sessions,
    client,
    profile: profile(),
    offered: { ...OFFERED, load: true, resume: true, remove: true, ...less },
    clock,
    log,
    after: (_, follow) => void follows.push(follow),
  });
  return { methods, sessions, follows };
}

Deno.test("[S7] load and resume hand the complete lists on and answer with the Session's settings", async () => {
  for (const method of ["load", "resume"]) {
    const { methods, sessions, follows } = everything();
    const result = await methods.request(`session/${method}`, { sessionId: "s1", ...place }, never);
    assertEquals(Object.keys(result as object), ["modes", "configOptions"]);
    assertEquals(sessions.places, [{ cwd: "/work", roots: ["/more"], mcpServers: [] }]);
    await methods.request(`session/${method}`, { sessionId: "s1", cwd: "/work" }, never);
    assertEquals(sessions.places[1], { cwd: "/work", roots: [], mcpServers: [] }, "left out means none");
    assertEquals(sessions.calls, [`${method} s1`, `${method} s1`]);
    assertEquals(follows.length, 2, "each is followed by an announcement");
  }
});

Deno.test("[H4] delete removes and answers with nothing", async () => {
  const { methods, sessions } = everything();
  assertEquals(await methods.request("session/delete", { sessionId: "gone" }, never), {});
  assertEquals(sessions.calls, ["remove gone"]);
});

Deno.test("[A4] a method of what is not offered is not there, and asks the Sessions for nothing", async () => {
  const METHODS = {
    load: "session/load",
    resume: "session/resume",
    list: "session/list",
    close: "session/close",
    remove: "session/delete",
  } as const;
  for (const [ability, method] of Object.entries(METHODS)) {
    const { methods, sessions } = everything({ [ability]: false });
    const asked = () => methods.request(method, { sessionId: "s1", ...place }, never);
    assertEquals((await assertRejects(asked, RequestError)).code, -32601, method);
    assertEquals(sessions.calls, [], method);
  }
});
