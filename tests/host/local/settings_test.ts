import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import type { RuntimeHost } from "../../../src/host/contract.ts";
import type { ConfigChange } from "../../../src/model/config.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { diskFull, FaultyStore, gate, unclosed } from "./faulty_store.ts";
import { done, ended, opened, started, until, worldOf } from "./world.ts";

const nothing = () => Promise.resolve();

function configure(
  host: RuntimeHost,
  expectedRevision: number,
  changeId: string,
  ...changes: ConfigChange[]
) {
  return host.sessions.configure({ sessionId: "s1", expectedRevision, changeId, changes });
}

const FAST: ConfigChange = { id: "fast", value: true };
const WRITE: ConfigChange = { id: "mode", value: "write" };

Deno.test("[G2] configuration is compare-and-set by its revision; who lost the race tries again and both changes hold", async () => {
  await using world = worldOf(nothing);
  const one = world.host.connect("c1");
  const subscription = await opened(one);
  const two = world.host.connect("c2");
  const outcomes = await Promise.allSettled([configure(one, 1, "a", FAST), configure(two, 1, "b", WRITE)]);
  const lost = outcomes[1];
  if (lost?.status !== "rejected") throw new Error("Both changes were taken");
  assertEquals([lost.reason.code, lost.reason.data], ["revision_conflict", { revision: 2 }]);
  const config = await configure(two, 2, "c", WRITE);
  assertEquals([config.revision, config.options.map((option) => option.value)], [3, ["write", true]]);
  const { frames } = await subscription.next();
  assertEquals(frames.flatMap((frame) => frame.type === "config" ? [frame.config.revision] : []), [2, 3]);
  assertEquals((await one.sessions.get("s1")).config, config);
});

Deno.test("[G2] a change is made once for its id, also after a restart", async () => {
  const store = new MemoryStore();
  {
    await using world = worldOf(nothing, { store: unclosed(store) });
    const host = world.host.connect("c1");
    await opened(host);
    await configure(host, 1, "a", FAST);
    assertEquals((await configure(host, 1, "a", FAST)).revision, 2);
  }
  await using world = worldOf(nothing, { store });
  const host = world.host.connect("c1");
  const config = await configure(host, 1, "a", FAST);
  assertEquals([config.revision, config.options[1]?.value], [2, true]);
});

Deno.test("[G2] a change is durable before its reply and its frame, or not made at all", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  store.onCommit = () => Promise.reject(diskFull());
  assertEquals(
    (await assertRejects(() => configure(host, 1, "a", FAST), HostError)).code,
    "persistence_failed",
  );
  assertEquals((await host.sessions.get("s1")).config.revision, 1);
  const commit = gate();
  store.onCommit = () => commit.promise;
  const waiting = subscription.next();
  let shown = false;
  void waiting.then(() => shown = true);
  const changed = configure(host, 1, "a", FAST);
  for (let turn = 0; turn < 5; turn++) await world.clock.turn();
  assertEquals([shown, (await host.sessions.get("s1")).config.revision], [false, 1]);
  commit.open();
  assertEquals((await changed).revision, 2);
  assertEquals((await waiting).frames[0]?.type, "config");
  assertEquals(store.batches.at(-1)?.map((write) => write.op), ["info", "change"]);
});

const REFUSED: readonly [string, ConfigChange[]][] = [
  ["an unknown option", [{ id: "x", value: true }]],
  ["an unknown value", [{ id: "mode", value: "x" }]],
  ["a value of another type", [{ id: "fast", value: "true" }]],
  ["one good and one bad change", [FAST, { id: "mode", value: "x" }]],
];
for (const [what, changes] of REFUSED) {
  Deno.test(`[G3] configuration refuses ${what} and stays as it is`, async () => {
    await using world = worldOf(nothing);
    const host = world.host.connect("c1");
    await opened(host);
    assertEquals((await assertRejects(() => configure(host, 1, "a", ...changes), HostError)).code, "invalid");
    const { config } = await host.sessions.get("s1");
    assertEquals([config.revision, config.options.map((option) => option.value)], [1, ["ask", false]]);
    assertEquals((await configure(host, 1, "a", FAST)).revision, 2, "a refused change is not done");
  });
}

Deno.test("[G1] a change reaches the Engine of the running Turn, which nobody waits for", async () => {
  const told = gate<number>();
  const seen: unknown[] = [];
  await using world = worldOf(async () => {
    await told.promise;
    seen.push(world.engine.contexts[0]?.config().revision);
  });
  world.engine.opening = () =>
    Promise.resolve({
      configure: (config) => {
        told.open(config.revision);
        return new Promise<void>(() => {});
      },
    });
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  await started(host, "t1");
  await until(subscription, (frame) => frame.type === "run" && frame.live.phase === "running");
  await configure(host, 1, "a", FAST);
  await until(subscription, ended);
  assertEquals([await told.promise, seen], [2, [2]]);
});

Deno.test("[G1] a setting that the Engine refuses is kept, and people are told", async () => {
  await using world = worldOf(nothing);
  world.engine.opening = () => Promise.resolve({ configure: () => Promise.reject(new Error("no")) });
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  await started(host, "t1");
  await until(subscription, ended);
  assertEquals((await configure(host, 1, "a", FAST)).revision, 2);
  const frames = await until(subscription, (frame) => frame.type === "notice");
  const notice = frames.at(-1);
  assertEquals(notice?.type === "notice" && [notice.severity, notice.title], [
    "warning",
    "The agent did not take the new settings",
  ]);
});

Deno.test("[G1] options that the Engine changes by itself have a new revision; equal ones do not", async () => {
  await using world = worldOf(async () => {
    const [context] = world.engine.contexts;
    if (context === undefined) throw new Error("There is no context");
    const { options } = context.config();
    await context.configured(options.map((option) => ({ ...option })));
    await context.configured(options.slice(1));
  });
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  await started(host, "t1");
  const frames = await until(subscription, ended);
  const configs = frames.flatMap((frame) => frame.type === "config" ? [frame.config] : []);
  assertEquals(configs.map((config) => [config.revision, config.options.length]), [[2, 1]]);
});

Deno.test("[G3] [G4] titles, commands and usage are bounded, shown at once and saved by and by", async () => {
  const long = "\u{1f600}".repeat(600);
  const told = gate();
  const go = gate();
  await using world = worldOf(async (_turn, sink) => {
    const [context] = world.engine.contexts;
    if (context === undefined) throw new Error("There is no context");
    await context.title("  two\n lines ");
    await context.title(long);
    await context.title(" ");
    await context.title(undefined as never);
    await context.commands(
      Array.from(
        { length: 300 },
        (_, index) => ({ name: `c${index}`, description: index === 0 ? long : "" }),
      ),
    );
    await context.commands([{ name: "", description: "" }, null as never, {
      name: "x",
      description: 1 as never,
      hint: long,
    }]);
    await context.commands("none" as never);
    for (
      const usage of [{ used: 5, size: 10 }, { used: 5, size: 0 }, { used: NaN, size: 1 }, {
        used: -1,
        size: 1,
      }, undefined as never]
    ) {
      await sink.usage(usage);
    }
    told.open();
    await go.promise;
  });
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  await started(host, "t1");
  await told.promise;
  await world.clock.advance(250);
  const stored = await world.store.get("s1");
  assertEquals([stored?.title, stored?.commands, stored?.usage], ["\u{1f600}".repeat(128), [], {
    used: 5,
    size: 10,
  }]);
  assertEquals((await host.sessions.list({})).sessions[0]?.title, stored?.title);
  go.open();
  const frames = await until(subscription, ended);
  assertEquals(frames.flatMap((frame) => frame.type === "title" ? [frame.title] : []), [
    "two lines",
    stored?.title ?? "",
  ]);
  const [many, few, none] = frames.flatMap((frame) => frame.type === "commands" ? [frame.commands] : []);
  assertEquals([many?.length, many?.[0]?.description.length, none], [256, 1024, []]);
  assertEquals(few?.map(({ name, description, hint }) => [name, description, hint?.length]), [[
    "x",
    "",
    1024,
  ]]);
  assertEquals(frames.flatMap((frame) => frame.type === "usage" ? [frame.usage] : []), [{
    used: 5,
    size: 10,
  }]);
});

Deno.test("an Engine's state comes back in the next process; too much of it is refused", async () => {
  const store = new MemoryStore();
  const faults: string[] = [];
  {
    await using world = worldOf(async () => {
      const [context] = world.engine.contexts;
      await context?.state({ at: 1 });
      for (const value of ["x".repeat(64 * 1024), "\u{1f600}".repeat(17 * 1024)]) {
        await context?.state(value).catch((error) => faults.push(error.code));
      }
    }, { store: unclosed(store) });
    const host = world.host.connect("c1");
    const subscription = await opened(host);
    await started(host, "t1");
    await until(subscription, ended);
    // What was opened anew in the same process gets it too.
    await host.sessions.bind({ sessionId: "s1", roots: ["/x"], mcpServers: [] });
    await started(host, "t2");
    await until(subscription, ended);
    assertEquals(world.engine.contexts.map((context) => context.restored), [undefined, { at: 1 }]);
  }
  await using world = worldOf(nothing, { store });
  const host = world.host.connect("c1");
  const subscription = await host.sessions.open("s1", {
    readTextFile: false,
    writeTextFile: false,
    terminal: false,
    forms: false,
  });
  await started(host, "t3");
  await until(subscription, ended);
  assertEquals(world.engine.contexts[0]?.restored, { at: 1 });
  assertEquals(faults.slice(0, 2), ["capacity", "capacity"]);
});

Deno.test("what an Engine's Session says after its end is ignored", async () => {
  await using world = worldOf(nothing);
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  await started(host, "t1");
  await until(subscription, ended);
  await host.sessions.bind({ sessionId: "s1", roots: ["/x"], mcpServers: [] });
  await started(host, "t2");
  await until(subscription, ended);
  const [old, present] = world.engine.contexts;
  await present?.title("present");
  await old?.title("old");
  await old?.commands([]);
  await old?.configured([]);
  await old?.state("old");
  const info = await host.sessions.get("s1");
  assertEquals([info.title, info.commands.length, info.config.revision], ["present", 1, 1]);
  done(await host.sessions.create({ sessionId: "s2", cwd: "/w", roots: [], mcpServers: [] }));
});
