import { assert, assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import { SessionError } from "../../src/session/errors.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const place = { cwd: "/work", roots: [], mcpServers: [] };
const input = { parts: [{ kind: "text" as const, text: "do it" }] };
const lost = () => new HostError("unavailable", "The connection was lost", { dispatch: "unknown" });

/** Another connection's Turn, whole. */
function past(stage: Stage, turnId: string, text = turnId): void {
  stage.host.begin(turnId, { presenter: "elsewhere" });
  stage.host.row(turnId, `user-${turnId}`, { kind: "user", input });
  stage.host.message(turnId, `m-${turnId}`, text);
  stage.host.end(turnId);
}

/** Loads and says that the answer is on its way. */
async function loaded(stage: Stage, sessionId = "s"): Promise<void> {
  await stage.sessions.load(sessionId, place);
  stage.sessions.announce(sessionId);
  await settle();
}

Deno.test("[S2] [H1] loads of one Session follow one another: one Subscription at a time, both answered", async () => {
  const stage = new Stage();
  past(stage, "old");
  const loads = [stage.sessions.load("s", place), stage.sessions.load("s", place)];
  for (const load of loads) {
    await load;
    stage.sessions.announce("s");
    await settle();
    assertEquals(stage.host.subscriptions.length, 1);
  }
  assertEquals(stage.host.ops("bind", "open", "close"), ["bind ", "open", "bind ", "close", "open"]);
  assertEquals(stage.client.text(), "oldold");
  await stage.sessions.shutdown();
  assertEquals(stage.host.subscriptions.length, 0);
});

Deno.test("[H1] a load that comes while the Session is being opened shows what happened since", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const gate = Promise.withResolvers<void>();
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  stage.host.say(turnId, "m", 0, "one ");
  await settle();
  // The next opening reads what was missed, and waits for it.
  stage.host.script.read = async (request) => {
    await gate.promise;
    return stage.host.page(request);
  };
  stage.host.evict();
  await settle();
  past(stage, "other");
  const load = stage.sessions.load(sessionId, place);
  await settle();
  stage.host.script.read = undefined;
  gate.resolve();
  await load;
  assert(stage.client.text().includes("other"));
  stage.sessions.announce(sessionId);
  stage.host.end(turnId);
  await settle();
  await asked.done;
  await stage.sessions.shutdown();
});

Deno.test("[H1] what begins while a load reads is shown once, later", async () => {
  const stage = new Stage();
  past(stage, "old");
  stage.host.script.read = (request) => {
    stage.host.script.read = undefined;
    past(stage, "new");
    return Promise.resolve(stage.host.page(request));
  };
  await loaded(stage);
  assertEquals(stage.client.text(), "old");
  await stage.prompt("s");
  assertEquals(stage.client.text(), "oldnew");
  await stage.sessions.shutdown();
});

Deno.test("[P2] [H1] the Turn that a prompt waited for is shown before its own", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.begin("other", { presenter: "elsewhere" });
  stage.host.message("other", "m-other", "theirs ");
  await settle();
  const asked = await stage.prompt(sessionId);
  assertEquals(stage.host.ops("start"), []);
  stage.host.end("other");
  await settle();
  const { turnId } = stage;
  stage.host.message(turnId, "m-own", "mine");
  stage.host.end(turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  assertEquals(stage.client.text(), "theirs mine");
  await stage.sessions.shutdown();
});

Deno.test("[R1] [H1] a load that goes on after a loss leaves alone what it left alone before", async () => {
  const stage = new Stage();
  stage.host.begin("other", { presenter: "elsewhere" });
  stage.host.row("other", "u", { kind: "user", input });
  stage.host.row("other", "m1", { kind: "text", text: "first " });
  stage.host.script.read = (request) => {
    stage.host.script.read = undefined;
    const page = stage.host.page(request);
    stage.host.script.read = () => {
      stage.host.script.read = undefined;
      stage.host.row("other", "m2", { kind: "text", text: "second" });
      stage.host.end("other");
      stage.host.evict();
      return Promise.reject(lost());
    };
    return Promise.resolve({ ...page, cursor: "more" });
  };
  await loaded(stage);
  assertEquals(stage.client.text(), "");
  await stage.prompt("s");
  assertEquals(stage.client.text(), "first second");
  assertEquals(stage.client.updates("user_message_chunk").length, 1);
  await stage.sessions.shutdown();
});

Deno.test("[R1] [I7] a background Run that a load adopted before a loss is shown by that load alone", async () => {
  const stage = new Stage();
  stage.host.begin("beside", {
    foreground: false,
    presenter: undefined,
    origin: { kind: "engine", parent: stage.host.run("gone") },
  });
  stage.host.row("beside", "m", { kind: "text", text: "word" }, { complete: false });
  stage.host.script.read = (request) => {
    const page = stage.host.page(request);
    stage.host.script.read = () => {
      stage.host.script.read = undefined;
      stage.host.evict();
      return Promise.reject(lost());
    };
    return Promise.resolve({ ...page, cursor: "more" });
  };
  await loaded(stage);
  assertEquals(stage.client.text(), "word");
  await stage.sessions.shutdown();
});

Deno.test("[R1] a Turn that was shown, or is shown by itself, is not shown again after a gap", async () => {
  const stage = new Stage();
  await stage.sessions.resume("s", place);
  stage.sessions.announce("s");
  await settle();
  // A row that stays open holds the watermark back behind all that follows.
  let watermark = 0;
  Object.defineProperty(stage.host, "watermark", { get: () => watermark, set: () => {} });
  stage.host.begin("beside", { foreground: false, origin: { kind: "engine", parent: stage.host.run("x") } });
  stage.host.row("beside", "b", { kind: "text", text: "beside " }, { complete: false });
  stage.host.say("beside", "b", 0, "beside ");
  const first = await stage.prompt("s");
  const { turnId } = stage;
  stage.host.message(turnId, "m", "own ");
  stage.host.end(turnId);
  await first.done;
  watermark = stage.host.last;
  stage.host.evict();
  await settle();
  past(stage, "other");
  await stage.prompt("s");
  assertEquals(stage.client.text(), "beside own other");
  await stage.sessions.shutdown();
});

Deno.test("[R1] what others did goes on where it broke off when its Subscription is lost", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  await stage.sessions.resume(sessionId, place);
  stage.sessions.announce(sessionId);
  await settle();
  past(stage, "other", "text");
  await settle();
  stage.host.script.read = (request) => {
    const page = stage.host.page(request);
    stage.host.script.read = () => {
      stage.host.script.read = undefined;
      stage.host.evict();
      return Promise.reject(lost());
    };
    return Promise.resolve({ rows: page.rows.slice(0, 2), cursor: "more" });
  };
  await stage.prompt(sessionId);
  await stage.clock.advance(100);
  assertEquals(stage.client.text(), "text");
  assertEquals(stage.client.updates("user_message_chunk").length, 1);
  await stage.sessions.shutdown();
});

Deno.test("[S3] a close while a load is under way ends it; the load that follows waits for the close", async () => {
  const stage = new Stage();
  const gate = Promise.withResolvers<void>();
  stage.host.script.read = async (request) => {
    await gate.promise;
    return stage.host.page(request);
  };
  const load = stage.sessions.load("s", place);
  await settle();
  const close = stage.sessions.close("s");
  const error = await assertRejects(() => load, SessionError);
  assertEquals(error.code, "unknown_session");
  gate.resolve();
  stage.host.script.read = undefined;
  const again = stage.sessions.load("s", place);
  await close;
  await again;
  assertEquals(stage.host.ops("open", "close", "release"), ["open", "release", "close", "open"]);
  await stage.sessions.shutdown();
});
