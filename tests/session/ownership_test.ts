import { assert, assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import { SessionError } from "../../src/session/errors.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const place = { cwd: "/work", roots: [], mcpServers: [] };
const never = new AbortController().signal;

Deno.test("[S4] an operation on a Session that is not owned is refused before any Host work", async () => {
  const stage = new Stage();
  await stage.sessions.list({});
  stage.host.operations.length = 0;
  const attempts: (() => Promise<unknown>)[] = [
    () => Promise.resolve().then(() => stage.sessions.prompt("s", { parts: [] }, never)),
    () => Promise.resolve().then(() => stage.sessions.configure("s", { id: "mode", value: "ask" })),
    () => Promise.resolve().then(() => stage.sessions.close("s")),
  ];
  for (const attempt of attempts) {
    const error = await assertRejects(attempt, SessionError);
    assertEquals([error.code, error.data.sessionId], ["unknown_session", "s"]);
  }
  stage.sessions.cancel("s");
  assertEquals(stage.host.operations, []);
  await stage.sessions.shutdown();
});

Deno.test("[S2] Sessions that nobody prompts open no Subscription", async () => {
  const stage = new Stage();
  for (let count = 0; count < 5; count++) {
    const { sessionId } = await stage.sessions.create(place);
    stage.sessions.announce(sessionId);
  }
  assertEquals(stage.host.ops("open"), []);
  await stage.sessions.shutdown();
});

Deno.test("[S5] a creation whose reply was lost keeps its id, is found by it and never repeated", async () => {
  const stage = new Stage();
  const lost = new HostError("unavailable", "The reply was lost", { dispatch: "unknown" });
  stage.host.script.create = () => Promise.resolve({ kind: "unknown", error: lost });
  assertEquals((await stage.sessions.create(place)).sessionId, "id1");
  assertEquals(stage.host.operations, ["create id1", "get id1"]);
  stage.host.script.get = () => Promise.reject(new HostError("not_found", "No such Session"));
  const failing = stage.sessions.create(place);
  const error = assertRejects(() => failing, SessionError);
  await stage.clock.advance(LIMITS.queryTries * 2000);
  assertEquals((await error).data, { sessionId: "id2", host: "unavailable", dispatch: "unknown" });
  assertEquals(stage.host.ops("create"), ["create id1", "create id2"]);
  await stage.sessions.shutdown();
});

Deno.test("[S3] [S2] close stops the Run, releases everything at once, and a second close shares the first", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const waiting = await stage.prompt(sessionId);
  const first = stage.sessions.close(sessionId);
  const second = stage.sessions.close(sessionId);
  assertEquals(first, second);
  await stage.clock.advance(LIMITS.cancelMs);
  await first;
  assertEquals([asked.ending, waiting.ending], [{ stop: "cancelled" }, { stop: "cancelled" }]);
  assertEquals(stage.host.ops("stop", "close", "release"), [`stop ${stage.turnId}`, "close", "release"]);
  const before = stage.client.events.length;
  stage.host.begin("late");
  stage.host.say("late", "m", 0, "late");
  await settle();
  assertEquals([stage.client.events.length, stage.host.subscriptions.length], [before, 0]);
  assertEquals(stage.clock.sleepers, 0);
  await assertRejects(() => Promise.resolve().then(() => stage.sessions.close(sessionId)), SessionError);
  await stage.sessions.shutdown();
});

Deno.test("[S3] a failed Stop is reported and everything is released all the same", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.stop = () => Promise.reject(new HostError("internal", "The Host cannot stop it"));
  const asked = await stage.prompt(sessionId);
  const closing = assertRejects(() => stage.sessions.close(sessionId), SessionError);
  await stage.clock.advance(LIMITS.closeMs);
  assertEquals((await closing).code, "host_unavailable");
  assertEquals((asked.ending as { stop: string }).stop, "cancelled");
  assertEquals(stage.host.ops("close", "release"), ["close", "release"]);
  await stage.sessions.shutdown();
});

Deno.test("[S3] close does not wait for a Host that does not answer", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.stop = () => new Promise(() => {});
  stage.host.script.release = () => new Promise(() => {});
  const asked = await stage.prompt(sessionId);
  const closing = stage.sessions.close(sessionId).catch(() => {});
  await stage.clock.advance(2 * LIMITS.closeMs);
  await closing;
  assert(asked.ending !== undefined);
  assertEquals(stage.host.subscriptions.length, 0);
  await stage.clock.advance(LIMITS.queryMs);
  await stage.sessions.shutdown();
});

for (const act of ["cancel", "close"] as const) {
  Deno.test(`[C3] ${act} acts on a foreground Run that another client started while this one was idle`, async () => {
    const stage = new Stage();
    const sessionId = await stage.create();
    const first = await stage.prompt(sessionId);
    stage.host.end(stage.turnId);
    await first.done;
    stage.host.begin("foreign", { origin: { kind: "connection", connectionId: "x" }, presenter: "x" });
    stage.host.begin("behind", {
      foreground: false,
      origin: { kind: "connection", connectionId: "x" },
      presenter: "x",
    });
    await settle();
    if (act === "cancel") stage.sessions.cancel(sessionId);
    else {
      const closing = stage.sessions.close(sessionId);
      await stage.clock.advance(LIMITS.closeMs);
      await closing;
    }
    await settle();
    assertEquals(
      stage.host.ops("stop"),
      act === "cancel" ? ["stop foreign"] : ["stop foreign", "stop behind"],
    );
    await stage.sessions.shutdown();
  });
}

Deno.test("[C2] an unrelated Run that is seen meanwhile never redirects a Stop", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const reply = Promise.withResolvers<void>();
  stage.host.script.start = async ({ turnId }) => {
    await reply.promise;
    return { kind: "done", value: { kind: "admitted", run: stage.host.begin(turnId) } };
  };
  const asked = await stage.prompt(sessionId);
  stage.host.begin("background", {
    foreground: false,
    origin: { kind: "engine", parent: stage.host.run("x") },
  });
  await settle();
  stage.sessions.cancel(sessionId);
  await settle();
  assertEquals(stage.host.ops("stop"), []);
  reply.resolve();
  await settle();
  assertEquals(stage.host.ops("stop"), [`stop ${stage.turnId}`]);
  assertEquals(await asked.done, { stop: "cancelled" });
  await stage.sessions.shutdown();
});

Deno.test("[G2] concurrent changes of different fields converge, three conflicts are an error", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  let conflicts = 2;
  stage.host.script.configure = ({ expectedRevision }) => {
    if (conflicts-- > 0) {
      stage.host.info = { ...stage.host.info, config: { revision: expectedRevision + 1, options: [] } };
      return Promise.reject(new HostError("revision_conflict", "Changed meanwhile"));
    }
    return Promise.resolve({ revision: expectedRevision + 1, options: [] });
  };
  const config = await stage.sessions.configure(sessionId, { id: "mode", value: "ask" });
  assertEquals(config.revision, 3);
  assertEquals(stage.host.ops("configure"), ["configure 0", "configure 1", "configure 2"]);
  conflicts = 3;
  const error = await assertRejects(
    () => stage.sessions.configure(sessionId, { id: "mode", value: "ask" }),
    SessionError,
  );
  assertEquals(error.code, "internal");
  await stage.sessions.shutdown();
});

Deno.test("[G2] a change that is confirmed late is answered with the settings that hold by then", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const late = Promise.withResolvers<void>();
  stage.host.script.configure = async () => {
    await late.promise;
    return { revision: 1, options: [] };
  };
  const first = stage.sessions.configure(sessionId, { id: "mode", value: "a" });
  stage.host.script.configure = () => Promise.resolve({ revision: 2, options: [] });
  assertEquals((await stage.sessions.configure(sessionId, { id: "mode", value: "b" })).revision, 2);
  late.resolve();
  assertEquals((await first).revision, 2);
  await stage.sessions.shutdown();
});

Deno.test("[G2] [G3] an unknown outcome is never tried again, a bad value is an error of the request", async () => {
  const failures: readonly [HostError, string][] = [
    [new HostError("unavailable", "Lost", { dispatch: "unknown" }), "outcome_unknown"],
    [new HostError("invalid", 'No option "colour"'), "invalid_params"],
  ];
  for (const [failure, code] of failures) {
    const stage = new Stage();
    const sessionId = await stage.create();
    stage.host.script.configure = () => Promise.reject(failure);
    const error = await assertRejects(
      () => stage.sessions.configure(sessionId, { id: "colour", value: "x" }),
      SessionError,
    );
    assertEquals([error.code, stage.host.ops("configure").length], [code, 1]);
    await stage.sessions.shutdown();
  }
});
