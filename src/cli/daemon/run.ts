import { AgentBook } from "./agent_book.ts";
import { boundedFileSink } from "./log_file.ts";
import { commonEnvironment, variableOf } from "./environment.ts";
import { Daemon } from "./daemon.ts";
import { fileSink, lineLog, stderrSink } from "../log.ts";
import { HostError } from "../../host/errors.ts";
import { HostLock } from "../../host/wire/transport/host_lock.ts";
import { LocalHost } from "../../host/local/host.ts";
import type { Listener } from "../../host/wire/transport/listener.ts";
import { listenOnSocket } from "../../host/wire/transport/socket.ts";
import type { Log } from "../../model/log.ts";
import { folderRefusal, type Machine, planStore, thisMachine } from "../state.ts";
import { openFolderStore } from "../../host/store/folder.ts";
import { publishEndpoint, withdrawEndpoint } from "../../host/wire/transport/endpoint.ts";
import { randomIds, systemClock } from "../../system.ts";
import { Rendezvous } from "../../host/wire/transport/rendezvous.ts";
import type { Screen } from "../screen.ts";
import type { ServeOptions } from "../flags.ts";
import { StateFolder } from "../../host/store/state_folder.ts";
import { statusOf } from "./caller.ts";
import { VERSION } from "../version.ts";
import { WORKBENCH } from "../roster.ts";

/** Signals that drain a Host, and their numbers. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** Milliseconds from the wish to end to the end, whatever hangs. */
const DRAIN_MS = 5000;
/** Milliseconds that a Host which is leaving gets before the next one gives up, and between two looks. */
const LOCK_MS = 6000;
const LOOK_MS = 50;

/**
 * Is the Host of a state folder until it is stopped. Resolves with the exit code: 0, 1 where it cannot be, 128 and the number of the
 * signal that ended it.
 */
export async function runHost(options: ServeOptions, screen: Screen): Promise<number> {
  const machine = thisMachine();
  try {
    const place = prepare(options, machine);
    const lock = await takeLock(place);
    try {
      return await serve(place, options, machine, screen);
    } finally {
      lock.release();
    }
  } catch (error) {
    const errors = stderrSink();
    errors.line(`gangway: ${sentenceOf(error)}`);
    await errors.close();
    return 1;
  }
}

/** The place where those who look for the Host of this state folder find it, made ready. */
function prepare({ store }: ServeOptions, machine: Machine): Rendezvous {
  const plan = planStore(store, machine);
  if (plan.kind !== "folder") throw new HostError("unavailable", folderRefusal(plan));
  new StateFolder(plan.folder).prepare();
  const place = new Rendezvous(plan.folder);
  place.prepare();
  return place;
}

/** Waits for one that is leaving; refuses where one stays. */
async function takeLock(place: Rendezvous): Promise<HostLock> {
  // One that does not answer is not waited for any longer, however long each look takes.
  const late = AbortSignal.timeout(LOCK_MS);
  for (;;) {
    const lock = HostLock.take(place.lock);
    if (lock instanceof HostLock) return lock;
    const status = await statusOf({ kind: "state", folder: place.state }, late).catch(() => undefined);
    if (status !== undefined || late.aborted) {
      const who = lock.heldBy === 0 ? "" : ` (process ${lock.heldBy})`;
      throw new HostError("busy", `A Host is running for this state folder already${who}`);
    }
    await systemClock.sleep(LOOK_MS);
  }
}

async function serve(
  place: Rendezvous,
  options: ServeOptions,
  machine: Machine,
  screen: Screen,
): Promise<number> {
  const { logFile, logLevel = "info", idle } = options;
  const sink = logFile === undefined ? boundedFileSink(place.log) : fileSink(logFile);
  const log = lineLog(sink, logLevel);
  const listener = await listen(place, options, machine);
  const { daemon, signals } = compose(place, listener, log, machine, idle);
  try {
    publishEndpoint(place, listener.endpoint);
    log.info("The Host is here", { version: VERSION, pid: Deno.pid, folder: place.state });
    screen.line(`Serving ${place.state} as process ${Deno.pid}. "gangway host stop" or Ctrl-C ends it.`);
    const end = await daemon.serve();
    log.info("The Host has ended", { why: end });
    return signals.exitCode;
  } finally {
    signals.close();
    withdrawEndpoint(place);
    await sink.close();
  }
}

function compose(
  place: Rendezvous,
  listener: Listener,
  log: Log,
  machine: Machine,
  idle: number | undefined,
): { readonly daemon: Daemon; readonly signals: DrainSignals } {
  const book = new AgentBook({
    folder: place.state,
    file: place.agents,
    base: commonEnvironment(machine),
    outlet: {
      call: (message, signal) => host.outlet.call(message, signal),
      notify: (message) => host.outlet.notify(message),
    },
    log,
  });
  const host: LocalHost = new LocalHost({
    store: () => openFolderStore({ folder: place.state, log, program: "gangway host" }),
    engines: [],
    engineOf: (engineId) => book.engineOf(engineId),
    defaultEngine: WORKBENCH,
    clock: systemClock,
    ids: randomIds,
    log,
  });
  const daemon = new Daemon({
    host,
    book,
    listener,
    version: VERSION,
    folder: place.state,
    ...(idle !== undefined && { idleMs: idle * 1000 }),
    clock: systemClock,
    log,
  });
  return { daemon, signals: new DrainSignals(daemon) };
}

async function listen(
  place: Rendezvous,
  { transport }: ServeOptions,
  machine: Machine,
): Promise<Listener> {
  if (transport === "socket" || transport === undefined && machine.os !== "windows") {
    return listenOnSocket(place.socket(variableOf(machine, "XDG_RUNTIME_DIR")));
  }
  const { listenOnWeb } = await import("../../host/wire/transport/web.ts");
  return listenOnWeb(place);
}

/** Signals that drain the Host. The process ends in bounded time, also where something hangs. */
class DrainSignals {
  exitCode = 0;
  readonly #listeners = new Map<Deno.Signal, () => void>();
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(daemon: Daemon) {
    for (const [signal, number] of Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][]) {
      const listener = () => {
        this.exitCode ||= 128 + number;
        this.#deadline ??= setTimeout(() => Deno.exit(this.exitCode), DRAIN_MS);
        daemon.stop();
      };
      try {
        Deno.addSignalListener(signal, listener);
        this.#listeners.set(signal, listener);
      } catch {
        // Windows knows only some of them.
      }
    }
  }

  close(): void {
    clearTimeout(this.#deadline);
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof HostError) return error.message;
  if (error instanceof Deno.errors.NotCapable) {
    const flag = /--allow-[a-z]+/.exec(error.message)?.[0] ?? "-A";
    return `The Host cannot listen: start Gangway with ${flag}`;
  }
  return `The Host cannot be started: ${error instanceof Error ? error.message : String(error)}`;
}
