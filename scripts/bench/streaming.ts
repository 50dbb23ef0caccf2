import { FLOOR, type Place } from "./place.ts";
import { type Figure, median } from "./figures.ts";
import type { Launch } from "../../src/cli/launch.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryOf, Probe } from "./probe.ts";
import { writeHistory } from "./history.ts";

/** How many small updates a second arrive. */
export async function rate({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const count = 100_000;
  const once = async (launch: Launch) => {
    const probe = new Probe(launch);
    await probe.initialize();
    const sessionId = await probe.session(folder);
    await probe.prompt(sessionId, "/emit 2000 16");
    const before = probe.updates;
    const since = performance.now();
    await probe.prompt(sessionId, `/emit ${count} 16`);
    const seconds = (performance.now() - since) / 1000;
    const updates = probe.updates - before;
    await probe.close();
    return { rate: updates / seconds, updates };
  };
  const own = [];
  const floor = [];
  for (let run = 0; run < 3; run++) {
    own.push(await once(gangway));
    floor.push(await once(FLOOR));
  }
  return [
    {
      name: "updates a second, 16 bytes each",
      unit: "/s",
      gangway: median(own.map(({ rate }) => rate)),
      floor: median(floor.map(({ rate }) => rate)),
      judged: "ratio",
      limit: { kind: "least", value: 0.8 },
    },
    {
      name: `updates that arrived of ${count}: none merged`,
      unit: "",
      gangway: Math.min(...own.map(({ updates }) => updates)),
      judged: "value",
      limit: { kind: "least", value: count },
    },
  ];
}

/** What an editor that sleeps costs in memory, and whether it loses anything. */
export async function memory({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const length = 16 * 1024 * 1024;
  const probe = new Probe(gangway, "parsing");
  await probe.initialize();
  const sessionId = await probe.session(folder);
  await probe.prompt(sessionId, "/emit 100 16");
  const idle = await memoryOf(probe.pid);
  const before = probe.text;
  probe.sleep(new Promise((resolve) => setTimeout(resolve, 3000)));
  await probe.prompt(sessionId, `/emit ${length / 64} 64`);
  const after = await memoryOf(probe.pid);
  const arrived = probe.text - before;
  await probe.close();
  return [
    {
      name: "16 MiB of small deltas, editor asleep: characters lost",
      unit: "",
      gangway: length - arrived,
      judged: "value",
      limit: { kind: "most", value: 0 },
    },
    {
      name: "the same: peak memory above idle",
      unit: "MiB",
      gangway: (after?.peak ?? NaN) - (idle?.now ?? NaN),
      judged: "value",
      limit: { kind: "most", value: 40 },
    },
  ];
}

/** What a chatty tool costs on the wire. */
export async function flood({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const bytes = 32 * 1024 * 1024;
  const probe = new Probe(gangway);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  const before = probe.bytes;
  await probe.prompt(sessionId, `/flood ${bytes}`);
  const written = probe.bytes - before;
  const longest = probe.longest;
  await probe.close();
  return [
    {
      name: "a tool that writes 32 MiB: bytes on the wire for each",
      unit: "",
      gangway: written / bytes,
      judged: "value",
      limit: { kind: "most", value: 3 },
    },
    {
      name: "the same: longest line",
      unit: "bytes",
      gangway: longest,
      judged: "value",
      limit: { kind: "most", value: 48 * 1024 },
    },
  ];
}

/** What as many tools as a prompt may have cost in memory. */
export async function tools({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const probe = new Probe(gangway);
  await probe.initialize();
  const sessionId = await probe.session(folder);
  await probe.prompt(sessionId, "/tools 10");
  const idle = await memoryOf(probe.pid);
  const ended = await probe.prompt(sessionId, `/tools ${LIMITS.promptTools}`);
  const after = await memoryOf(probe.pid);
  const refused = await probe.prompt(sessionId, `/tools ${LIMITS.promptTools + 1}`)
    .then(() => 0, (error) => String(error).includes("tool_presentation_capacity") ? 1 : 0);
  await probe.close();
  return [
    {
      name: `${LIMITS.promptTools} tools in one prompt: peak memory above idle`,
      unit: "MiB",
      gangway: ended === "end_turn" ? (after?.peak ?? NaN) - (idle?.now ?? NaN) : NaN,
      judged: "value",
      limit: { kind: "most", value: 64 },
    },
    {
      name: "one tool more: prompts that failed on purpose, of 1",
      unit: "",
      gangway: refused,
      judged: "value",
      limit: { kind: "least", value: 1 },
    },
  ];
}

/** How fast a long conversation is shown again. */
export async function load({ folder, gangway }: Place): Promise<readonly Figure[]> {
  const rows = 100_000;
  await writeHistory(`${folder}/state`, folder, "long", rows);
  const probe = new Probe(gangway);
  await probe.initialize();
  await probe.session(folder);
  const idle = await memoryOf(probe.pid);
  const since = performance.now();
  await probe.request("session/load", { sessionId: "long", cwd: folder, mcpServers: [] });
  const seconds = (performance.now() - since) / 1000;
  const after = await memoryOf(probe.pid);
  await probe.close();
  return [
    {
      name: "session/load of 100,000 rows: rows a second",
      unit: "/s",
      gangway: rows / seconds,
      judged: "value",
      limit: { kind: "least", value: 20_000 },
    },
    {
      name: "the same: peak memory above idle",
      unit: "MiB",
      gangway: (after?.peak ?? NaN) - (idle?.now ?? NaN),
      judged: "value",
      limit: { kind: "most", value: 64 },
    },
  ];
}
