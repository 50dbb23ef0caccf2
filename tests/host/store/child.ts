/**
 * A process that works on a state folder as it is told: one JSON array a line on stdin, `[command, …arguments]`; one JSON value a
 * line on stdout. It can be told to end itself at a moment of the store.
 *
 * Usage: `child.ts FOLDER [POINT] [early]`. `POINT` is a store point at which the process kills itself, once armed with
 * `["arm"]`; `early` acknowledges before the work is done, as no store should.
 */
import type { SessionStore } from "../../../src/host/store/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { infoOf, keptLog, rowOf } from "./support.ts";

const [folder = "", point, early] = Deno.args;
let armed = false;

const store = await openFolderStore({
  folder,
  log: keptLog(),
  program: "child",
  failpoint: (reached) => {
    if (armed && reached === point) Deno.kill(Deno.pid, "SIGKILL");
  },
});
const held = new Map<string, SessionStore>();

function session(id: string): SessionStore {
  const found = held.get(id);
  if (found === undefined) throw new Error(`"${id}" is not held`);
  return found;
}

/** What a command does; the result is its answer. */
const COMMANDS: { readonly [name: string]: (...args: never[]) => Promise<unknown> } = {
  arm: () => Promise.resolve(armed = true),
  list: async () => (await store.list({ limit: 1000 })).sessions.map((info) => info.sessionId),
  create: async (id: string) => void held.set(id, await store.create(infoOf(id))),
  hold: async (id: string) => void held.set(id, await store.hold(id)),
  remove: (id: string) => store.remove(id),
  release: (id: string) => session(id).close(),
  row: (id: string, seq: number, length: number) =>
    session(id).commit(rowOf(seq, String(seq % 10).repeat(length))),
  upload: async (id: string, uploadId: string) => {
    await session(id).artifacts.begin(uploadId);
    await session(id).artifacts.append(uploadId, new TextEncoder().encode(uploadId));
  },
  seal: (id: string, uploadId: string) => session(id).artifacts.seal(uploadId, uploadId),
  /** Commits row after row, two Sessions' worth of callers at once, and names each row that is acknowledged. */
  flood: async (id: string, length: number) => {
    for (let seq = 1;; seq += 3) {
      await Promise.all([seq, seq + 1, seq + 2].map(async (each) => {
        await session(id).commit(rowOf(each, String(each % 10).repeat(length)));
        answer(each);
      }));
    }
  },
};

function answer(value: unknown): void {
  const line = new TextEncoder().encode(JSON.stringify(value ?? null) + "\n");
  for (let at = 0; at < line.length;) at += Deno.stdout.writeSync(line.subarray(at));
}

async function obey(line: string): Promise<void> {
  const [name, ...args] = JSON.parse(line) as [string, ...never[]];
  const command = COMMANDS[name];
  if (command === undefined) throw new Error(`There is no command "${name}"`);
  try {
    if (early !== undefined && armed) answer(null);
    const value = await command(...args);
    if (early === undefined || !armed) answer(value);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    answer({ code: error.code, message: error.message, data: error.data });
  }
}

let pending = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (pending + text).split("\n");
  pending = lines.pop() ?? "";
  for (const line of lines) await obey(line);
}
await store.close();
