import { assertEquals } from "@std/assert";
import type { Remembered } from "../../../src/engine/remembered.ts";
import type { ToolInput } from "../../../src/model/tool.ts";
import { ended, opened, type Script, started, until, worldOf } from "./world.ts";

const input = (title: string, sensitive = false): ToolInput => ({
  complete: true,
  sensitive,
  title,
  kind: "other",
  locations: [],
  raw: { secret: "raw" },
});

/** What an Engine is told, at each of the byte limits, in a Turn after one that did `work`. */
async function toldAfter(work: Script, ...limits: number[]): Promise<(readonly Remembered[])[]> {
  await using world = worldOf(work);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const told: (readonly Remembered[])[] = [];
  world.engine.script = async () => {
    for (const limit of limits) told.push(await world.engine.contexts[0]!.history(limit));
  };
  await started(connection, "t2");
  await until(subscription, ended);
  return told;
}

Deno.test("[E4] an Engine is told what was said before, without the Turn at work, thoughts, sensitive tools and results", async () => {
  const [told] = await toldAfter(async (_, sink) => {
    await sink.message("m1", "thinking", "hidden");
    await sink.message("m2", "text", "Looking");
    await sink.toolStart("a", input("Read"));
    await sink.toolResult("a", {
      status: "failed",
      content: [{ kind: "text", text: "bytes" }],
      diffs: [],
    });
    await sink.toolStart("b", input("Secret", true));
    await sink.toolStart("c", input("Cut off"));
    await sink.plan([{ content: "Plan", priority: "low", status: "pending" }]);
    await sink.notice("info", "Notice");
  }, 32_768);
  assertEquals(told, [
    { kind: "user", text: "t1" },
    { kind: "text", text: "Looking" },
    { kind: "tool", title: "Read", status: "failed" },
    { kind: "tool", title: "Cut off", status: "interrupted" },
  ]);
});

Deno.test("[E4] an Engine is told the newest within its bytes, and of a long message its length", async () => {
  const long = "ä".repeat(600);
  const told = await toldAfter(
    async (_, sink) => {
      await sink.message("m1", "text", long);
      for (let at = 0; at < 1200; at++) await sink.message(`n${at}`, "text", `message ${at}`);
    },
    100_000,
    4096,
    120,
    0,
  );
  assertEquals(told[0]?.slice(0, 2), [{ kind: "user", text: "t1" }, { kind: "text", text: long }]);
  assertEquals(told[0]?.length, 1202);
  assertEquals(told[1]?.at(-1), { kind: "text", text: "message 1199" });
  assertEquals(
    told[1]?.length,
    200 + Math.floor((4096 - 200 * "message 1199".length) / "message 999".length),
  );
  assertEquals(told[2]?.length, 10);
  assertEquals(told[3], []);
  const [short] = await toldAfter(async (_, sink) => await sink.message("m1", "text", long), 4096);
  assertEquals(short?.[1], { kind: "text", length: 600 });
});
