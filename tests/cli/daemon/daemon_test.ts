import { assert, assertEquals, assertRejects } from "@std/assert";
import { call, statusOf, WishRefused } from "../../../src/cli/daemon/caller.ts";
import { type Desk, NEVER, NO_SERVICES, withDesk } from "./desk.ts";
import { dialSocket } from "../../../src/host/wire/transport/socket.ts";
import type { RemoteHost } from "../../../src/host/wire/client.ts";
import { readFirstLine, writeLine } from "../../../src/cli/daemon/first_line.ts";
import { systemClock } from "../../../src/system.ts";
import type { WireStream } from "../../../src/host/wire/stream.ts";

/** Begins a Turn that takes as long as it is let. */
async function working(editor: RemoteHost, cwd: string): Promise<string> {
  const sessionId = crypto.randomUUID();
  await editor.sessions.create({ sessionId, cwd, roots: [], mcpServers: [] });
  const input = { parts: [{ kind: "text", text: "/sleep 60000" } as const] };
  const reply = await editor.turns.start({ sessionId, turnId: crypto.randomUUID(), input });
  assertEquals(reply.kind, "done");
  return sessionId;
}

Deno.test("[W1] a Turn goes on when its connection is closed, and may be adopted", async () => {
  await withDesk({}, async ({ editor, daemon, folder }) => {
    const first = await editor();
    const sessionId = await working(first, folder);
    await first.close();
    assertEquals(daemon.status.sessions.map(({ editors, running }) => [editors, running]), [[0, 1]]);
    const second = await editor();
    await second.sessions.bind({ sessionId, roots: [], mcpServers: [] });
    const subscription = await second.sessions.open(sessionId, NO_SERVICES);
    const [live] = subscription.snapshot.runs;
    assert(live !== undefined);
    await second.turns.adopt({ sessionId, run: live.run });
    await second.turns.stop({ sessionId, run: live.run });
    await subscription.close();
  });
});

Deno.test("[W1] whoever loads a Session right after its editor was cut off finds its Turn without a presenter", async () => {
  await withDesk({}, async ({ editor, folder }) => {
    const streams: WireStream[] = [];
    const first = await editor(streams);
    const sessionId = await working(first, folder);
    // It does not come back: what it dials from now on is nobody's.
    for (const stream of streams) stream.close();
    const second = await editor();
    await second.sessions.bind({ sessionId, roots: [], mcpServers: [] });
    const subscription = await second.sessions.open(sessionId, NO_SERVICES);
    assertEquals(subscription.snapshot.runs.map(({ presenter }) => presenter), [undefined]);
    await subscription.close();
  });
});

Deno.test("[W2] what is no wish is answered, and what says nothing is let go", async (t) => {
  await withDesk({}, async (desk) => {
    for (
      const [name, said] of [["another program", { hello: 1 }], ["no object", 7], ["another want", {
        gangway: 1,
        want: "x",
      }]] as const
    ) {
      await t.step(name, async () => {
        const stream = await dial(desk);
        await writeLine(stream, said);
        const { said: answer } = await readFirstLine(stream, 5000);
        assertEquals((answer as { reason: string }).reason, "unknown");
        stream.close();
      });
    }
    await t.step("too long a line", async () => {
      const stream = await dial(desk);
      await writeLine(stream, { long: "x".repeat(100_000) }).catch(() => {});
      await assertRejects(() => readFirstLine(stream, 5000));
      stream.close();
    });
    assertEquals((await statusOf(desk.address, NEVER))?.version, "1.2.3");
  });
});

function dial({ address }: Desk): Promise<WireStream> {
  if (address.kind !== "socket") throw new Error("it has no socket");
  return dialSocket(address.path, NEVER);
}

Deno.test("[W1] a stop for the idle leaves a Host with editors or Turns alone", async () => {
  await withDesk({}, async ({ editor, address, folder, ended, daemon }) => {
    const wish = { want: "stop", when: "idle" } as const;
    const first = await editor();
    const refused = await assertRejects(() => call(address, wish, NEVER), WishRefused);
    assertEquals(refused.reason, "busy");
    await working(first, folder);
    await first.close();
    assertEquals((await assertRejects(() => call(address, wish, NEVER), WishRefused)).reason, "busy");
    assertEquals(daemon.status.connections, 0);
    const stopped = await call(address, { want: "stop", when: "now" }, NEVER);
    // It hangs up when it is over.
    await stopped?.stream.readable.pipeTo(new WritableStream());
    stopped?.stream.close();
    assertEquals(await ended, "asked");
    assertEquals(await statusOf(address, NEVER), undefined);
  });
});

Deno.test("[W1] a Host leaves after its idle time, and not while a Turn is at work", async () => {
  await withDesk({ idleMs: 60 }, async ({ editor, address, folder, ended }) => {
    const first = await editor();
    const sessionId = await working(first, folder);
    await first.close();
    const since = performance.now();
    // Status is asked for as often as it takes for the idle time to pass.
    while (performance.now() - since < 200) assert(await statusOf(address, NEVER) !== undefined, "it left");
    const second = await editor();
    await second.sessions.bind({ sessionId, roots: [], mcpServers: [] });
    const subscription = await second.sessions.open(sessionId, NO_SERVICES);
    const [live] = subscription.snapshot.runs;
    assert(live !== undefined);
    await second.turns.stop({ sessionId, run: live.run });
    await subscription.close();
    await second.close();
    const over = new AbortController();
    const stayed = systemClock.sleep(10_000, over.signal).then(() => "stayed", () => "stayed");
    assertEquals(await Promise.race([ended, stayed]), "idle");
    over.abort();
  });
});
