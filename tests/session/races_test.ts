import { assert, assertEquals } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const lost = () => new HostError("unavailable", "The reply was lost", { dispatch: "unknown" });

/** What the Host makes of a start, and what a prompt comes to that nobody cancels. */
const STARTS: Record<string, { script: (stage: Stage) => void; alone: string }> = {
  "is admitted": { script: () => {}, alone: "end_turn" },
  "is admitted, the reply is lost": {
    script: (stage) =>
      stage.host.script.start = ({ turnId }) => {
        stage.host.begin(turnId);
        return Promise.resolve({ kind: "unknown", error: lost() });
      },
    alone: "end_turn",
  },
  "is admitted out of sight, the reply is lost": {
    script: (stage) =>
      stage.host.script.start = ({ turnId }) => {
        const frame = stage.host.frame;
        stage.host.frame = () => {};
        stage.host.begin(turnId);
        stage.host.frame = frame;
        return Promise.resolve({ kind: "unknown", error: lost() });
      },
    alone: "end_turn",
  },
  "never arrives, the reply is lost": {
    script: (stage) => stage.host.script.start = () => Promise.resolve({ kind: "unknown", error: lost() }),
    alone: "host_unavailable",
  },
  "never arrives and nobody knows": {
    script: (stage) => {
      stage.host.script.start = () => Promise.resolve({ kind: "unknown", error: lost() });
      stage.host.script.query = () => Promise.reject(lost());
    },
    alone: "outcome_unknown",
  },
  "is refused": {
    script: (stage) =>
      stage.host.script.start = () =>
        Promise.resolve({ kind: "answered", error: new HostError("persistence_failed", "The disk is full") }),
    alone: "storage_failed",
  },
  "gets no reply at all": {
    script: (stage) => stage.host.script.start = () => new Promise(() => {}),
    alone: "host_unavailable",
  },
};

/** When the Client cancels. */
const CANCELS: Record<string, (stage: Stage, sessionId: string) => Promise<void>> = {
  "never": () => Promise.resolve(),
  "in the same moment": (stage, sessionId) => Promise.resolve(stage.sessions.cancel(sessionId)),
  "while the Turn runs": async (stage, sessionId) => {
    await settle();
    stage.sessions.cancel(sessionId);
  },
  "after a second": async (stage, sessionId) => {
    await stage.clock.advance(1000);
    stage.sessions.cancel(sessionId);
  },
};

for (const [what, start] of Object.entries(STARTS)) {
  for (const [when, cancel] of Object.entries(CANCELS)) {
    Deno.test(`[P2] [C1] [C2] [C6] a start that ${what}, cancelled ${when}`, async () => {
      const stage = new Stage();
      const sessionId = await stage.create();
      start.script(stage);
      const answer = stage.sessions.prompt(sessionId, { parts: [] }, new AbortController().signal);
      let ending: string | undefined;
      const done = answer.then(({ stopReason }) => ending = stopReason, (error) => ending = error.code);
      await cancel(stage, sessionId);
      const cancelled = when !== "never" && ending === undefined;
      await stage.clock.advance(LIMITS.cancelMs);
      if (cancelled) assertEquals(ending, "cancelled", "a cancel is answered in under a second");
      for (const turnId of stage.host.live.keys()) stage.host.end(turnId);
      await stage.clock.advance(LIMITS.startMs + LIMITS.queryTries * (LIMITS.queryMs + 2000));
      await done;
      if (!cancelled) assertEquals(ending, start.alone);
      // Each command at most once, and a Stop names what was started.
      const starts = stage.host.ops("start").map((operation) => operation.split(" ")[1]);
      assertEquals(new Set(starts).size, starts.length);
      assert(starts.length <= 1);
      const stops = stage.host.ops("stop");
      assert(stops.length <= 1);
      for (const stop of stops) assertEquals(stop, `stop ${starts[0]}`);
      assert(stage.host.ops("query").length <= LIMITS.queryTries);
      await stage.sessions.shutdown();
      assertEquals(stage.clock.sleepers, 0, "no timer is left");
    });
  }
}

Deno.test("[C1] [C7] [C8] a cancel is answered at whichever step of the code it arrives", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const first = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  await first.done;
  for (let steps = 0; steps < 60; steps++) {
    stage.host.operations.length = 0;
    const answer = stage.sessions.prompt(
      sessionId,
      { parts: [{ kind: "text", text: "go" }] },
      new AbortController().signal,
    );
    let ending: string | undefined;
    answer.then(({ stopReason }) => ending = stopReason);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    stage.sessions.cancel(sessionId);
    await stage.clock.advance(LIMITS.cancelMs);
    assertEquals(ending, "cancelled", `cancelled after ${steps} steps`);
    assertEquals(stage.host.ops("stop").length, stage.host.ops("start").length);
  }
  await stage.sessions.shutdown();
});

Deno.test("[P2] a busy slot is waited for and the prompt then starts under another id", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  let turns = 0;
  stage.host.script.start = ({ turnId }) => {
    const other = stage.host.run("other");
    const origin = { kind: "connection", connectionId: "elsewhere" } as const;
    if (turns++ === 0) {
      return Promise.resolve({ kind: "done", value: { kind: "busy", run: other, origin } });
    }
    return Promise.resolve({ kind: "done", value: { kind: "admitted", run: stage.host.begin(turnId) } });
  };
  const asked = await stage.prompt(sessionId);
  await stage.clock.advance(100);
  assertEquals(stage.host.ops("start"), ["start id2", "start id3"]);
  stage.host.end("id3");
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P2] a start that never left is sent again and fails in bounded time", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const error = new HostError("unavailable", "No connection", { dispatch: "not_sent" });
  stage.host.script.start = () => Promise.resolve({ kind: "not_sent", error });
  const asked = await stage.prompt(sessionId);
  await stage.clock.advance(LIMITS.recoveryMs + 1000);
  assertEquals(asked.ending, { error: "host_unavailable" });
  await stage.sessions.shutdown();
});

Deno.test("[P8] [C5] a Turn that turns up after its prompt was given up is stopped, and nothing of it is shown", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.start = () => Promise.resolve({ kind: "unknown", error: lost() });
  stage.host.script.query = () => Promise.reject(lost());
  const asked = await stage.prompt(sessionId);
  await stage.clock.advance(LIMITS.queryTries * (LIMITS.queryMs + 2000));
  assertEquals(asked.ending, { error: "outcome_unknown" });
  const before = stage.client.events.length;
  const { turnId } = stage;
  stage.host.begin(turnId);
  await settle();
  assertEquals(stage.host.ops("stop"), [`stop ${turnId}`]);
  assertEquals(stage.client.events.length, before);
  await stage.sessions.shutdown();
});
