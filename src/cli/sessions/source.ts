import { addressFor } from "../daemon/command.ts";
import { call, statusOf } from "../daemon/caller.ts";
import type { HeldSession } from "../daemon/status.ts";
import { HostError } from "../../host/errors.ts";
import type { RuntimeHost } from "../../host/contract.ts";
import { randomIds, systemClock } from "../../system.ts";
import { silentLog } from "../../model/log.ts";
import type { StoreChoice } from "../flags.ts";
import { VERSION } from "../version.ts";
import { WORKBENCH } from "../roster.ts";

/** Where a terminal finds Sessions: at the Host that runs, else in the state folder itself. */
export interface SessionSource {
  readonly host: RuntimeHost;
  /** Sessions that the Host holds, by id; empty where none runs. */
  readonly held: ReadonlyMap<string, HeldSession>;
  close(): Promise<void>;
}

/** Finds the Sessions of a state folder. Undefined where there is no such folder yet. Starts no Host. */
export async function openSource(store: StoreChoice): Promise<SessionSource | undefined> {
  const address = addressFor(store);
  if (address.kind !== "state" || !await isThere(address.folder)) return undefined;
  const { signal } = new AbortController();
  const status = await statusOf(address, signal);
  if (status === undefined) return await openFolder(address.folder);
  const { RemoteHost } = await import("../../host/wire/client.ts");
  const host = await RemoteHost.connect({
    dial: async (signal) => {
      const reached = await call(address, { want: "host" }, signal);
      if (reached !== undefined) return reached.stream;
      throw new HostError("unavailable", "The Host has just ended: try again", { dispatch: "not_sent" });
    },
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    client: { name: "gangway sessions", version: VERSION },
  });
  const held = new Map(status.sessions.map((session) => [session.sessionId, session]));
  return { host, held, close: () => host.close() };
}

async function openFolder(folder: string): Promise<SessionSource> {
  const [{ LocalHost }, { openFolderStore }] = await Promise.all([
    import("../../host/local/host.ts"),
    import("../../host/store/folder.ts"),
  ]);
  const local = new LocalHost({
    store: () => openFolderStore({ folder, log: silentLog, program: "gangway sessions" }),
    engines: [],
    defaultEngine: WORKBENCH,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
  });
  return { host: local.connect(randomIds.next()), held: new Map(), close: () => local.close() };
}

async function isThere(folder: string): Promise<boolean> {
  try {
    return (await Deno.stat(folder)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
