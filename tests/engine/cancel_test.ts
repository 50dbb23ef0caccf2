import { assert, assertEquals, assertLess } from "@std/assert";
import { Bench, type BenchParts, chooses, type Deed, folder, namesIn } from "./bench.ts";
import { alive, gone } from "./gone.ts";
import { systemClock } from "../../src/system.ts";
import type { Entry } from "./sink.ts";

const TERMINAL = { terminalId: "t1" };
const ALL = { readTextFile: true, writeTextFile: true, terminal: true };
const never = new Promise<never>(() => {});

interface Case {
  readonly prompt: string;
  /** Stops at this entry; at once where absent. */
  readonly at?: (entry: Entry) => boolean;
  readonly parts?: BenchParts;
  /** What may still go out after the stop. */
  readonly after?: readonly string[];
}

const entry = (...names: string[]) => (made: Entry) => names.includes(made[0]);
const call = (method: string) => (made: Entry) => made[0] === "call" && made[1] === method;

const CASES: { readonly [title: string]: Case } = {
  "a pause": { prompt: "/sleep 60000" },
  "a stream": { prompt: "/emit 100000000 1", at: entry("message") },
  "a flood": { prompt: "/flood 4294967296", at: entry("toolOutput") },
  "tools": { prompt: "/tools 100000000", at: entry("toolResult") },
  "a rewrite": { prompt: "/rewrite later", at: entry("message") },
  "a question": { prompt: "/ask Which? | a", at: entry("ask") },
  "a form": { prompt: "/form a:string", at: entry("ask") },
  "a permission to write": { prompt: "/write a x", at: entry("ask") },
  "a permission to run": { prompt: "/run true", at: entry("ask") },
  "a command": {
    prompt: "/run echo on; sleep 1000",
    at: entry("toolOutput"),
    parts: { person: chooses("allow_once") },
  },
  "a command that writes without end": {
    prompt: "/run yes",
    at: entry("toolOutput"),
    parts: { person: chooses("allow_once") },
  },
  "reading in the editor": {
    prompt: "/read a",
    at: entry("call"),
    parts: { services: ALL, editor: () => never },
  },
  "writing in the editor": {
    prompt: "/write a x",
    at: call("fs/write_text_file"),
    parts: {
      services: ALL,
      mode: "accept_edits",
      editor: (method) => method === "fs/read_text_file" ? { content: "" } : never,
    },
  },
  "making a terminal": {
    prompt: "/run make",
    at: call("terminal/create"),
    parts: { services: ALL, person: chooses("allow_once"), editor: () => never },
  },
  "waiting for a terminal": {
    prompt: "/run make",
    at: call("terminal/wait_for_exit"),
    parts: {
      services: ALL,
      person: chooses("allow_once"),
      editor: (method) => method === "terminal/create" ? TERMINAL : never,
    },
    after: ["call terminal/kill", "call terminal/release"],
  },
  "between two steps": { prompt: "/title T\n/plan a\n/sleep 0\n/say b", at: entry("plan") },
};

for (const [title, { prompt, at, parts, after = [] }] of Object.entries(CASES)) {
  for (const how of ["stop", "close"] as const) {
    Deno.test(`[C7] a ${how} ends the Turn at once: ${title}`, async () => {
      await using temp = await folder();
      const bench = await Bench.open({ cwd: temp.path, ...parts });
      const { sink, outcome, stop } = bench.start(`${prompt}\n/say never`);
      if (at !== undefined) await sink.when(at);
      // Like a request that comes in over the wire: not in the same breath.
      await systemClock.turn();
      const began = systemClock.now();
      const count = sink.entries.length;
      const settled = outcome.then(() => "ended", () => "failed");
      if (how === "stop") stop.abort(new Error("Stopped"));
      else await bench.close();
      assertEquals(await settled, how === "stop" ? "ended" : "failed");
      assertLess(systemClock.now() - began, 900);
      const late = sink.entries.slice(count).map(([name, detail]) =>
        name === "call" ? `call ${detail}` : name
      );
      assertEquals(late, [...after]);
    });
  }
}

Deno.test("[C7] a stop while the bytes of a block are read ends the Turn at once", async () => {
  const bench = await Bench.open();
  const artifact = { ...bench.keep("a", "abc"), artifactId: "stuck" };
  bench.stick("stuck");
  const { outcome, stop } = bench.start([{ kind: "resource", uri: "a:b", artifact }]);
  await systemClock.turn();
  stop.abort(new Error("Stopped"));
  assertEquals((await outcome).kind, "completed");
});

Deno.test("[C7] a Turn that is stopped before it begins does nothing", async () => {
  await using temp = await folder();
  const bench = await Bench.open({ cwd: temp.path, mode: "accept_edits" });
  const deed = bench.start("/write a x");
  deed.stop.abort();
  await deed.outcome;
  assertEquals(await namesIn(temp.path), []);
});

Deno.test("[C7] no step begins after a stop", async () => {
  const bench = await Bench.open({ titled: () => deed.stop.abort() });
  const deed: Deed = bench.start("/say first\n/title One\n/title Two");
  await deed.outcome;
  assertEquals(bench.titles, ["One"]);
});

/** Starts a tree of three processes, one of which ignores what can be ignored, and returns their ids. */
async function tree({ sink }: Deed): Promise<number[]> {
  await sink.when((made) => made[0] === "toolOutput" && made[3].includes("ready"));
  const text = sink.all("toolOutput").map((made) => made[3]).join("");
  const pids = text.split("\n").filter((line) => /^\d+$/.test(line)).map(Number);
  assertEquals([pids.length, pids.every(alive)], [3, true]);
  return pids;
}

const TREE =
  "/run echo $$; sh -c 'trap \"\" TERM INT HUP; echo $$; sleep 1000 & echo $!; echo ready; wait'; true";

for (const how of ["stop", "close"] as const) {
  Deno.test(`[C7] a ${how} kills a command with everything that it started`, async () => {
    await using temp = await folder();
    const bench = await Bench.open({ cwd: temp.path, person: chooses("allow_once") });
    const deed = bench.start(TREE);
    const pids = await tree(deed);
    const settled = deed.outcome.catch(() => {});
    if (how === "stop") deed.stop.abort();
    else await bench.close();
    await settled;
    await gone(pids);
  });
}

Deno.test("[E3] a command does not outlive a Gangway that is killed", async () => {
  await using temp = await folder();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", new URL("./crash.ts", import.meta.url).pathname, temp.path, TREE],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes("ready")) break;
  }
  const pids = text.split("\n").filter((line) => /^\d+$/.test(line)).map(Number);
  assertEquals([pids.length, pids.every(alive)], [3, true]);
  child.kill("SIGKILL");
  assert(!(await child.status).success);
  await gone(pids);
});
