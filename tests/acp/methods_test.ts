import { assertEquals } from "@std/assert";
import { FakeClock, FakeHost, FakeLog, FakeSessions, NO_FILES, profile } from "./fakes.ts";
import { Client } from "../../src/acp/client.ts";
import { LineWriter } from "../../src/acp/writer.ts";
import { Methods } from "../../src/acp/methods.ts";
import { OFFERED } from "../../src/acp/negotiation.ts";

const never = new AbortController().signal;
const place = { cwd: "/work", additionalDirectories: ["/more"], mcpServers: [] };

/** The method table with everything offered that Sessions can do. */
function everything() {
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
    offered: { ...OFFERED, load: true, resume: true, remove: true },
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
    assertEquals(Object.keys(result), ["modes", "configOptions"]);
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
