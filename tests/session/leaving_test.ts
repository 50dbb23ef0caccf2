import { assertEquals } from "@std/assert";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

/** Who ends it, and how many Stops go out for that. */
const ENDS: readonly {
  readonly name: string;
  readonly stops: number;
  end(stage: Stage, sessionId: string): Promise<void> | void;
}[] = [
  { name: "the editor leaves", stops: 0, end: (stage) => stage.sessions.shutdown() },
  {
    name: "the editor cancels and leaves",
    stops: 1,
    end: async (stage, sessionId) => {
      stage.sessions.cancel(sessionId);
      await stage.sessions.shutdown();
    },
  },
  {
    name: "the editor closes the Session",
    stops: 1,
    end: (stage, sessionId) => stage.sessions.close(sessionId),
  },
];

for (const { name, stops, end } of ENDS) {
  Deno.test(`[W1] where ${name} its running Turn gets ${stops === 0 ? "no Stop" : "one Stop"}`, async () => {
    const stage = new Stage();
    const sessionId = await stage.create();
    const { done } = await stage.prompt(sessionId);
    const { turnId } = stage;
    const ended = end(stage, sessionId);
    await settle();
    assertEquals(stage.host.ops("stop").length, stops);
    if (stops > 0) stage.host.end(turnId, { how: "stopped", by: "c1" });
    await Promise.all([ended, done]);
    await stage.sessions.shutdown();
    assertEquals(stage.host.ops("stop").length, stops);
  });
}
