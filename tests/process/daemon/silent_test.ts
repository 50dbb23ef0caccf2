import { assertEquals, assertStringIncludes } from "@std/assert";
import { HostLock } from "../../../src/host/wire/transport/host_lock.ts";
import { listenOnSocket } from "../../../src/host/wire/transport/socket.ts";
import { publishEndpoint } from "../../../src/host/wire/transport/endpoint.ts";
import { Rendezvous } from "../../../src/host/wire/transport/rendezvous.ts";
import type { WireStream } from "../../../src/host/wire/stream.ts";
import { withEditor } from "../../support/editor.ts";
import { type House, withHouse } from "./house.ts";

/** Has a Host in the house that takes connections and says nothing, as one that was stopped or starved does. */
async function withSilentHost(house: House, body: () => Promise<void>): Promise<void> {
  await Deno.mkdir(house.state, { mode: 0o700 });
  const place = new Rendezvous(house.state);
  place.prepare();
  const lock = HostLock.take(place.lock);
  if (!(lock instanceof HostLock)) throw new Error("somebody has the house");
  const listener = listenOnSocket(place.socket(undefined));
  publishEndpoint(place, listener.endpoint);
  const streams: WireStream[] = [];
  const taking = (async () => {
    for await (const stream of listener.connections) streams.push(stream);
  })();
  try {
    await body();
  } finally {
    await listener.close();
    await taking;
    for (const stream of streams) stream.close();
    lock.release();
  }
}

Deno.test("[W1] a Host that does not answer is told from none: nobody starts a second one, and who is started by hand gives up", async () => {
  await withHouse(async (house) => {
    await withSilentHost(house, async () => {
      const started = new Set<string>();
      const watch = setInterval(() => {
        for (const pid of house.processes()) {
          const words = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
          if (words.includes("host") && words.includes("--idle")) started.add(words.join(" "));
        }
      }, 100);
      try {
        const [status, stop, second] = await Promise.all([
          house.run("host", "status"),
          house.run("host", "stop"),
          house.run("host"),
          withEditor({ launch: house.editor(), deadlineMs: 60_000 }, async (editor) => {
            await editor.initialize();
            assertStringIncludes((await editor.refused("session/list", {})).message, "does not answer");
          }),
        ]);
        assertEquals([status.code, stop.code, second.code], [1, 1, 1]);
        for (const { stdout } of [status, stop]) assertStringIncludes(stdout, "does not answer");
        assertStringIncludes(second.stderr, "A Host is running");
      } finally {
        clearInterval(watch);
      }
      assertEquals([...started], []);
    });
  });
});
