/**
 * Gangway with the workbench on a state folder whose store stands still at a failpoint, or acknowledges too early from there
 * on. It says so in a line on stderr.
 *
 * Usage: `deno run -A agent.ts FOLDER POINT before|after|early NTH`
 */
import { gatedStore, type Notice, type Point, stopAt } from "./failing_store.ts";
import { randomIds, systemClock } from "../../../src/system.ts";
import { hastyStore } from "./hasty_store.ts";
import { LocalHost } from "../../../src/host/local/host.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { ScopedFiles } from "../../../src/resource/mod.ts";
import { serveStdio } from "../../../src/acp/stdio.ts";
import { silentLog } from "../../../src/model/log.ts";
import type { Store } from "../../../src/host/store/contract.ts";
import { workbench } from "../../../src/engine/workbench/mod.ts";

const [folder = "", point, moment, nth] = Deno.args;
const log = silentLog;
const encoder = new TextEncoder();

const notice: Notice = (what) => {
  Deno.stderr.writeSync(encoder.encode(`failpoint ${JSON.stringify(what)}\n`));
};

async function open(): Promise<Store> {
  const store = await openFolderStore({ folder, log });
  return moment === "early"
    ? hastyStore(store, point as Point, Number(nth), notice)
    : gatedStore(store, stopAt(point as Point, moment as "before" | "after", Number(nth), notice));
}

const host = new LocalHost({
  store: open,
  engines: [workbench({ reason: "chosen" })],
  defaultEngine: "workbench",
  clock: systemClock,
  ids: randomIds,
  log,
});

Deno.exit(
  await serveStdio({
    host: host.connect(randomIds.next()),
    files: new ScopedFiles({ denials: [folder] }),
    clock: systemClock,
    ids: randomIds,
    log,
    release: () => host.close(),
  }),
);
