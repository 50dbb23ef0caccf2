/**
 * Measures how many updates a second a prompt shows over the wire, both ends in one process, against the embedded Host.
 *
 * Usage: `deno run -A tests/host/wire/bench.ts [UPDATES] [ROUNDS]`.
 */
import { stdoutScreen } from "../../../src/cli/screen.ts";
import type { RuntimeHost } from "../../../src/host/contract.ts";
import { silentLog } from "../../../src/model/log.ts";
import type { ClientPort } from "../../../src/session/ports.ts";
import { Sessions } from "../../../src/session/mod.ts";
import { randomIds, systemClock } from "../../../src/system.ts";
import { EVERYTHING } from "../../session/scripted_client.ts";
import { type World, worldOf } from "../local/world.ts";
import { Wire } from "./line.ts";

/** An editor that reads everything and counts. */
class Counter implements ClientPort {
  readonly abilities = EVERYTHING;
  updates = 0;
  readonly #encoder = new TextEncoder();

  update(sessionId: string, update: string): void {
    this.#encoder.encode(
      `{"method":"session/update","params":{"sessionId":"${sessionId}","update":${update}}}\n`,
    );
    this.updates++;
  }

  notify(): void {}

  room(): undefined {}

  flushed(): Promise<void> {
    return Promise.resolve();
  }

  request(): Promise<unknown> {
    return Promise.reject(new Error("nothing is asked"));
  }
}

/** Updates a second of one prompt. */
async function rate(updates: number, reach: (world: World) => Promise<RuntimeHost>): Promise<number> {
  await using world = worldOf(async (_turn, sink) => {
    for (let count = 0; count < updates; count++) await sink.message("m", "text", "some words of an answer ");
  }, { limits: { patienceMs: 100_000 } });
  const host = await reach(world);
  const client = new Counter();
  const sessions = new Sessions({
    host,
    client,
    files: {
      directory: (path) => Promise.resolve(path),
      link: () => Promise.resolve({ kind: "reference" }),
    },
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
  });
  const { sessionId } = await sessions.create({ cwd: "/work", roots: [], mcpServers: [] });
  sessions.announce(sessionId);
  const began = performance.now();
  await sessions.prompt(sessionId, { parts: [{ kind: "text", text: "go" }] }, new AbortController().signal);
  const seconds = (performance.now() - began) / 1000;
  await sessions.shutdown();
  await host.close();
  return client.updates / seconds;
}

async function main(): Promise<void> {
  const [updates = 50_000, rounds = 9] = Deno.args.map(Number);
  const screen = stdoutScreen();
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const embedded = await rate(updates, (world) => Promise.resolve(world.host.connect("c1")));
    let wire: Wire | undefined;
    const wired = await rate(updates, (world) => {
      wire = new Wire({ host: world.host, clock: systemClock });
      return wire.connect("c1");
    });
    await wire?.[Symbol.asyncDispose]();
    const ratio = wired / embedded;
    ratios.push(ratio);
    screen.line(
      `${embedded.toFixed(0)} updates/s embedded, ${wired.toFixed(0)} over the wire: ${ratio.toFixed(2)} x`,
    );
  }
  screen.line(`median ${ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)]?.toFixed(2)} x`);
}

if (import.meta.main) await main();
