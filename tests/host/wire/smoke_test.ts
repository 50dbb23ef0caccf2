import { assertEquals } from "@std/assert";
import { ended, opened, started, until, worldOf } from "../local/world.ts";
import { Wire } from "./line.ts";

Deno.test("[W3] a Turn goes over the wire", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m", "text", "hello");
  });
  await using wire = new Wire(world);
  const remote = await wire.connect("c1");
  const subscription = await opened(remote);
  await started(remote, "t1");
  const frames = await until(subscription, ended);
  assertEquals(frames.flatMap((f) => f.type === "message" ? [f.text] : []), ["hello"]);
  await subscription.close();
});
