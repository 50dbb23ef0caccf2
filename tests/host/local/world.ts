import { setImmediate } from "node:timers";
import type { Clock, Ids } from "../../../src/model/clock.ts";
import type { EngineArchive } from "../../../src/engine/archive.ts";
import type {
  Engine,
  EngineContext,
  EngineOutcome,
  EngineSession,
  EngineSink,
  EngineTurn,
} from "../../../src/engine/contract.ts";
import type { EngineProfile, RuntimeHost, Subscription } from "../../../src/host/contract.ts";
import type { Frame } from "../../../src/model/frame.ts";
import type { Log } from "../../../src/model/log.ts";
import type { Run } from "../../../src/model/run.ts";
import { LIMITS, type Limits } from "../../../src/limits.ts";
import { LocalHost } from "../../../src/host/local/host.ts";
import type { Reply } from "../../../src/host/errors.ts";
import type { Store } from "../../../src/host/store/contract.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";

/** Time that moves when a test says so. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** How many wait. */
  get waiting(): number {
    return this.#sleepers.size;
  }

  /** Moves time and lets everything that is due happen. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    for (const sleeper of [...this.#sleepers]) if (sleeper.at <= this.#now) sleeper.wake();
    await this.turn();
  }
}

/** Ids that count: `i1`, `i2` … */
export function countingIds(): Ids {
  let count = 0;
  return { next: () => `i${++count}` };
}

/** A log that keeps its lines. */
export function keptLog(lines: string[]): Log {
  const keep = (level: string) => (message: string, data?: unknown) =>
    void lines.push(`${level} ${message} ${JSON.stringify(data ?? {})}`);
  return { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
}

/** What a scripted Engine does in a Turn. */
export type Script = (
  turn: EngineTurn,
  sink: EngineSink,
  signal: AbortSignal,
) => Promise<EngineOutcome | void>;

/** A profile with one option of each type. */
export const PROFILE: EngineProfile = {
  engineId: "scripted",
  title: "Scripted",
  options: [
    {
      id: "mode",
      name: "Mode",
      type: "select",
      category: "mode",
      value: "ask",
      choices: [{ value: "ask", name: "Ask" }, { value: "write", name: "Write" }],
    },
    { id: "fast", name: "Fast", type: "boolean", value: false },
  ],
  commands: [{ name: "say", description: "Says it" }],
  prompt: { image: true, audio: true, embeddedContext: true },
  mcp: { http: false, sse: false },
  linkedDirectories: false,
  authMethods: [],
};

/** An Engine whose Turns a test scripts. */
export class ScriptedEngine implements Engine {
  readonly profile: EngineProfile = PROFILE;
  /** Set it before anything is asked of the Host. */
  archive?: EngineArchive;
  /** What was asked of it, in order. */
  readonly asked: string[] = [];
  /** Contexts of the Sessions that were opened. */
  readonly contexts: EngineContext[] = [];
  script: Script;
  opening: (context: EngineContext) => Promise<Partial<EngineSession> | void> = () => Promise.resolve();

  constructor(script: Script) {
    this.script = script;
  }

  async open(context: EngineContext): Promise<EngineSession> {
    this.asked.push("open");
    this.contexts.push(context);
    const changed = await this.opening(context) ?? {};
    return {
      run: async (turn, sink, signal) => {
        this.asked.push(`run ${turn.turnId}`);
        return await this.script(turn, sink, signal) ?? COMPLETED;
      },
      configure: (config) => {
        this.asked.push(`configure ${config.revision}`);
        return Promise.resolve();
      },
      close: () => {
        this.asked.push("close");
        return Promise.resolve();
      },
      ...changed,
    };
  }

  close(): Promise<void> {
    this.asked.push("close all");
    return Promise.resolve();
  }
}

export const COMPLETED: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

/** A Host as tests reach it: embedded, or from another process. */
export type ReachedHost = Pick<LocalHost, "connect" | "close">;

/** How tests reach the Host of a world. */
let reached: (host: LocalHost) => ReachedHost = (host) => host;
let reach: "embedded" | "otherwise" = "embedded";

/** A value without fields that are undefined, which do not cross a wire. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** A test of what holds only where the Host is embedded: of one turn of the event loop, or of objects that are shared. */
export function embedded(name: string, test: () => Promise<void>): void {
  if (reach === "embedded") Deno.test(name, test);
}

/** Has the worlds of this test file reach their Hosts otherwise. */
export function reachHosts(by: (host: LocalHost) => ReachedHost): void {
  reached = by;
  reach = "otherwise";
}

/** A Host with one scripted Engine over a store in memory. */
export interface World extends AsyncDisposable {
  readonly host: ReachedHost;
  readonly clock: ManualClock;
  readonly engine: ScriptedEngine;
  readonly log: string[];
  readonly store: Store;
  /** The date in milliseconds since the epoch; a test may move it. */
  readonly calendar: { now: number };
}

export function worldOf(
  script: Script,
  options: { store?: Store; open?: () => Promise<Store>; limits?: Partial<Limits> } = {},
): World {
  const clock = new ManualClock();
  const engine = new ScriptedEngine(script);
  const log: string[] = [];
  const store = options.store ?? new MemoryStore();
  const calendar = { now: 1000 };
  const host = reached(
    new LocalHost({
      store: options.open ?? (() => Promise.resolve(store)),
      engines: [engine],
      defaultEngine: "scripted",
      clock,
      ids: countingIds(),
      log: keptLog(log),
      limits: { ...LIMITS, patienceMs: 0, ...options.limits },
      date: () => calendar.now,
    }),
  );
  return { host, clock, engine, log, store, calendar, [Symbol.asyncDispose]: () => host.close() };
}

export const NO_SERVICES = { readTextFile: false, writeTextFile: false, terminal: false, forms: false };

/** The value of a reply that has to be there. */
export function done<T>(reply: Reply<T>): T {
  if (reply.kind === "done") return reply.value;
  throw reply.error;
}

/** Creates a Session `s1` and opens it. */
export async function opened(connection: RuntimeHost, sessionId = "s1"): Promise<Subscription> {
  done(await connection.sessions.create({ sessionId, cwd: "/w", roots: [], mcpServers: [] }));
  return await connection.sessions.open(sessionId, NO_SERVICES);
}

/** Starts a Turn with words. */
export async function started(connection: RuntimeHost, turnId: string, sessionId = "s1"): Promise<Run> {
  const admission = done(
    await connection.turns.start({ sessionId, turnId, input: { parts: [{ kind: "text", text: turnId }] } }),
  );
  if (admission.kind !== "admitted") throw new Error(`The Turn "${turnId}" was not admitted`);
  return admission.run;
}

/** Fetches frames until one fits; returns all of them. */
export async function until(
  subscription: Subscription,
  fits: (frame: Frame) => boolean,
): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (;;) {
    const batch = await subscription.next();
    frames.push(...batch.frames);
    if (batch.frames.length === 0) {
      throw new Error(`The Subscription ended after ${JSON.stringify(frames.at(-1))}`);
    }
    if (batch.frames.some(fits)) return frames;
  }
}

export const ended = (frame: Frame): boolean => frame.type === "run_ended";
