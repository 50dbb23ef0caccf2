import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import type { Interaction } from "../../src/model/question.ts";
import { SessionError } from "../../src/session/errors.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const place = { cwd: "/work", roots: [], mcpServers: [] };
const input = { parts: [{ kind: "text" as const, text: "do it" }] };

/** A Host with one ended Turn, and one that still runs and has said "now " and asks a question. */
function running(presenter?: string): Stage {
  const stage = new Stage();
  const { host } = stage;
  host.begin("old");
  host.row("old", "u1", { kind: "user", input });
  host.message("old", "m1", "then");
  host.end("old");
  host.begin("live", { presenter, origin: { kind: "connection", connectionId: "gone" } });
  host.row("live", "u2", { kind: "user", input });
  host.row("live", "m2", { kind: "text", text: "now " }, { complete: false });
  const interaction: Interaction = {
    interactionId: "q",
    run: host.run("live"),
    kind: "permission",
    message: "May I?",
    options: [{ optionId: "yes", name: "Yes", effect: "allow" }],
  };
  host.pending.set("q", interaction);
  return stage;
}

/** Ends the running Turn, whose message has grown. */
function finish(stage: Stage): void {
  const { host } = stage;
  const index = host.rows.findIndex((row) => row.id === "m2");
  const [open] = host.rows.splice(index, 1);
  host.say("live", "m2", 4, "and ever");
  host.row("live", "m2", { kind: "text", text: "now and ever" });
  const closed = host.rows.pop()!;
  host.rows.splice(index, 0, { ...closed, seq: open!.seq });
  host.end("live");
}

Deno.test("[H1] [H2] load shows everything in order before its answer, then the running Turn goes on live", async () => {
  const stage = running();
  await stage.sessions.load("s", place);
  const kinds = stage.client.events.flatMap((event) =>
    event.kind === "update" ? [event.update.sessionUpdate] : []
  );
  assertEquals(kinds.filter((kind) => String(kind).endsWith("chunk")), [
    "user_message_chunk",
    "agent_message_chunk",
    "user_message_chunk",
    "agent_message_chunk",
  ]);
  assertEquals(stage.client.text(), "thennow ");
  assertEquals(stage.host.ops("adopt"), ["adopt live"]);
  assertEquals(stage.client.requests, []);
  stage.sessions.announce("s");
  await settle();
  assertEquals(stage.client.requests.map((request) => request.method), ["session/request_permission"]);
  finish(stage);
  await settle();
  assertEquals(stage.client.text(), "thennow and ever");
  await stage.sessions.shutdown();
});

Deno.test("[H2] resume shows nothing of the past, then the running Turn goes on live", async () => {
  const stage = running();
  await stage.sessions.resume("s", place);
  assertEquals(stage.client.events, []);
  stage.sessions.announce("s");
  await settle();
  assertEquals(stage.client.text(), "");
  finish(stage);
  await settle();
  assertEquals(stage.client.text(), "and ever");
  await stage.sessions.shutdown();
});

Deno.test("[I7] a Run that another connection presents is not adopted, and nothing of it is shown or asked", async () => {
  const stage = running("elsewhere");
  await stage.sessions.load("s", place);
  stage.sessions.announce("s");
  await settle();
  assertEquals(stage.host.ops("adopt"), []);
  assertEquals(stage.client.requests, []);
  assertEquals(stage.client.text(), "then");
  await stage.sessions.shutdown();
});

Deno.test("[I7] losing the race for a Run leaves it to the winner", async () => {
  const stage = running();
  stage.host.script.adopt = () => Promise.reject(new HostError("conflict", "Presented already"));
  await stage.sessions.load("s", place);
  stage.sessions.announce("s");
  await settle();
  assertEquals(stage.client.requests, []);
  await stage.sessions.shutdown();
});

Deno.test("[R1] [H1] a load that loses its Subscription goes on where it was", async () => {
  const stage = running();
  let reads = 0;
  stage.host.script.read = (request) => {
    const page = stage.host.page(request);
    if (reads++ > 0) return Promise.resolve(page);
    return Promise.resolve({ rows: page.rows.slice(0, 2), cursor: "more" });
  };
  const original = stage.host.script.read;
  stage.host.script.read = (request) => {
    if (request.cursor === undefined) return original(request);
    stage.host.evict("slow_consumer");
    return Promise.reject(new HostError("unavailable", "Evicted"));
  };
  await stage.sessions.load("s", place);
  assertEquals(stage.client.text(), "thennow ");
  assertEquals(stage.client.updates("user_message_chunk").length, 2);
  await stage.sessions.shutdown();
});

Deno.test("[H1] [C5] a Turn behind the fence that ends while a load is interrupted is shown with the next prompt", async () => {
  const stage = running("there");
  const { host } = stage;
  await stage.sessions.resume("s", place);
  stage.sessions.announce("s");
  host.script.stop = () => Promise.resolve();
  stage.sessions.cancel("s");
  await settle();
  let reads = 0;
  host.script.read = (request) => {
    if (request.turnId !== undefined || reads++ > 0) return Promise.resolve(host.page(request));
    host.evict("lost");
    finish(stage);
    return Promise.reject(new HostError("unavailable", "Lost", { dispatch: "not_sent" }));
  };
  await stage.sessions.load("s", place);
  stage.sessions.announce("s");
  await settle();
  assertEquals(stage.client.text(), "then");
  const asked = await stage.prompt("s");
  host.end(stage.turnId);
  await asked.done;
  assertEquals(stage.client.text(), "thennow and ever");
  await stage.sessions.shutdown();
});

Deno.test("[S7] load and resume replace the roots as a whole, also of a Session that is owned already", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  await stage.sessions.resume(sessionId, { ...place, roots: ["/a", "/b"] });
  await stage.sessions.load(sessionId, { ...place, roots: ["/c"] });
  await stage.sessions.load(sessionId, place);
  assertEquals(stage.host.ops("bind"), ["bind /a,/b", "bind /c", "bind "]);
  await stage.sessions.shutdown();
});

Deno.test("[H2] [S4] an unknown Session, another folder and a Session that is held elsewhere are not loaded and not owned", async () => {
  const failures: readonly [() => Stage, string][] = [
    [() => {
      const stage = new Stage();
      stage.host.script.get = () => Promise.reject(new HostError("not_found", "No such Session"));
      return stage;
    }, "unknown_session"],
    [() => {
      const stage = new Stage();
      stage.host.info = { ...stage.host.info, cwd: "/elsewhere" };
      return stage;
    }, "invalid_params"],
    [() => {
      const stage = new Stage();
      stage.host.sessions.bind = () => Promise.reject(new HostError("busy", "Process 7 holds the Session"));
      return stage;
    }, "session_busy"],
  ];
  for (const [make, code] of failures) {
    const stage = make();
    const error = await assertRejects(() => stage.sessions.load("s", place), SessionError);
    assertEquals(error.code, code);
    await assertRejects(() => Promise.resolve().then(() => stage.sessions.close("s")), SessionError);
    await stage.sessions.shutdown();
  }
});

Deno.test("[G1] [H2] settings that an editor was to learn from a load that failed are told by the next Subscription", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const { host } = stage;
  const select = { id: "mode", name: "Mode", type: "select", category: "mode" } as const;
  const options = [{ ...select, value: "a", choices: [{ value: "a", name: "A" }] }];
  host.info = { ...host.info, config: { revision: 7, options } };
  host.script.open = () => Promise.reject(new HostError("invalid", "No"));
  await assertRejects(() => stage.sessions.load(sessionId, place), SessionError);
  assertEquals(stage.client.updates("config_option_update").length, 0);
  host.script.open = () => Promise.resolve();
  const asked = await stage.prompt(sessionId);
  assertEquals(stage.client.updates("config_option_update").length, 1);
  host.end(stage.turnId);
  await asked.done;
  await stage.sessions.shutdown();
});

Deno.test("[H4] delete closes what is owned and frees it; an unknown Session is silent", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  await stage.sessions.remove(sessionId);
  await stage.sessions.remove("unknown");
  assertEquals(stage.host.ops("release", "remove"), ["release", `remove ${sessionId}`, "remove unknown"]);
  await stage.sessions.shutdown();
});
