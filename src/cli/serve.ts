import { openRoster, type Roster } from "./roster.ts";
import { fileSink, lineLog, type LineSink, stderrSink } from "./log.ts";
import { type Machine, planStore, type StorePlan, thisMachine } from "./state.ts";
import type { Permissions } from "./permissions.ts";
import { randomIds, systemClock } from "../system.ts";
import { HostError } from "../host/errors.ts";
import { LocalHost } from "../host/local/host.ts";
import { type Log, silentLog } from "../model/log.ts";
import type { ReadGrants } from "../resource/mod.ts";
import { ScopedFiles } from "../resource/files.ts";
import type { RuntimeHost } from "../host/contract.ts";
import { hostChoice, type ServeOptions } from "./flags.ts";
import { serveStdio } from "../acp/stdio.ts";
import type { Store } from "../host/store/contract.ts";
import { VERSION } from "./version.ts";

const WAITING = "Waiting for an editor, which starts this itself. --help says more";

/** What a worker with narrowed permissions serves with, besides its options. */
export interface WorkerGround {
  /** Which files may be read; Deno's permissions say so where absent. */
  readonly grants?: ReadGrants;
  /** What the program was given; a Host that is started has the same. */
  readonly permissions?: Permissions;
}

/**
 * Serves one editor on stdin and stdout until it is gone. Resolves with the exit code. What is not needed for the handshake is loaded
 * behind it; the state folder is opened by the first request that needs it.
 */
export async function serve(options: ServeOptions, worker: WorkerGround = {}): Promise<number> {
  const errors = stderrSink();
  const opened = openLog(options, errors);
  if (opened.kind === "refused") {
    errors.line(`gangway: ${opened.why}`);
    await errors.close();
    return 2;
  }
  const { log } = opened;
  const machine = thisMachine();
  const plan = planStore(options.store, machine);
  const folder = plan.kind === "folder" ? plan.folder : undefined;
  const roster = await openRoster({ options, machine, log, ...(folder !== undefined && { folder }) });
  if (roster.kind === "refused") {
    errors.line(`gangway: ${roster.why}`);
    await Promise.all([opened.sink?.close(), errors.close()]);
    return 2;
  }
  if (plan.kind !== "folder" && plan.why !== undefined) errors.line(`gangway: ${plan.why}`);
  // An editor sends the first message; a person would wait for one from here.
  if (Deno.stdin.isTerminal()) errors.line(`gangway: ${WAITING}`);
  const { host, release } = await hostFor({ options, plan, roster, machine, log, worker, errors });
  try {
    return await serveStdio({
      host,
      files: new ScopedFiles({ denials: folder === undefined ? [] : [folder], grants: worker.grants }),
      clock: systemClock,
      ids: randomIds,
      log,
      info: { name: "gangway", title: "Gangway", version: VERSION },
      release,
    });
  } finally {
    await Promise.all([opened.sink?.close(), errors.close()]);
  }
}

/** What the Host of an editor is made from. */
interface HostParts {
  readonly options: ServeOptions;
  readonly plan: StorePlan;
  readonly roster: Roster;
  readonly machine: Machine;
  readonly log: Log;
  readonly worker: WorkerGround;
  readonly errors: LineSink;
}

/** A Host in this process, or one that outlives it. */
async function hostFor(
  { options, plan, roster, machine, log, worker, errors }: HostParts,
): Promise<{ readonly host: RuntimeHost; readonly release: () => Promise<void> }> {
  const choice = options.host ?? (roster.host === undefined ? { kind: "none" } : hostChoice(roster.host));
  if (choice.kind === "path" || choice.kind === "auto" && plan.kind === "folder") {
    const { remoteHost } = await import("./daemon/remote.ts");
    const folder = plan.kind === "folder" ? plan.folder : "";
    const tell = (sentence: string) => errors.line(`gangway: ${sentence}`);
    const { permissions } = worker;
    const host = remoteHost({ choice, folder, options, roster, machine, permissions, log, tell });
    return { host, release: () => host.close() };
  }
  const local = new LocalHost({
    store: () => openStore(plan, log),
    engines: roster.engines,
    defaultEngine: roster.defaultEngine,
    clock: systemClock,
    ids: randomIds,
    log,
  });
  return { host: local.connect(randomIds.next()), release: () => local.close() };
}

type OpenedLog =
  | { readonly kind: "log"; readonly log: Log; readonly sink?: LineSink }
  | { readonly kind: "refused"; readonly why: string };

/** Silent unless a level or a file is named; then to the file, else to stderr. */
function openLog({ logFile, logLevel }: ServeOptions, errors: LineSink): OpenedLog {
  if (logFile === undefined) {
    return { kind: "log", log: logLevel === undefined ? silentLog : lineLog(errors, logLevel) };
  }
  try {
    const sink = fileSink(logFile);
    return { kind: "log", log: lineLog(sink, logLevel ?? "info"), sink };
  } catch (error) {
    const reason = error instanceof Deno.errors.NotCapable
      ? `start Gangway with --allow-write=${logFile}`
      : error instanceof Error
      ? error.message
      : String(error);
    return { kind: "refused", why: `The log file "${logFile}" cannot be opened: ${reason}` };
  }
}

async function openStore(plan: StorePlan, log: Log): Promise<Store> {
  switch (plan.kind) {
    case "refused":
      throw new HostError("unavailable", plan.why);
    case "memory": {
      const { MemoryStore } = await import("../host/store/memory.ts");
      return new MemoryStore();
    }
    case "folder": {
      const { openFolderStore } = await import("../host/store/folder.ts");
      return await openFolderStore({ folder: plan.folder, log });
    }
  }
}
