import type { Clock } from "../../src/model/clock.ts";
import type { Config, ConfigChange } from "../../src/model/config.ts";
import type { ConnectionSessions, PromptAnswer, SessionParts, SessionPlace } from "../../src/acp/mod.ts";
import type { Draft } from "../../src/session/draft.ts";
import type { EngineProfile, RuntimeHost, SessionInfo, SessionPage } from "../../src/host/contract.ts";
import type { Files } from "../../src/session/ports.ts";
import { HostError } from "../../src/host/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Log } from "../../src/model/log.ts";
import { SessionError } from "../../src/session/errors.ts";
import { systemClock } from "../../src/system.ts";

/** Settings as the fake Sessions have them. */
export const CONFIG: Config = {
  revision: 1,
  options: [
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      type: "select",
      value: "ask",
      choices: [{ value: "ask", name: "Ask" }, { value: "read_only", name: "Read only" }],
    },
    { id: "verbose", name: "Verbose", type: "boolean", value: false },
  ],
};

/** An Engine that takes everything, with exceptions. */
export function profile(part: Partial<EngineProfile> = {}): EngineProfile {
  return {
    engineId: "fake",
    title: "Fake",
    options: CONFIG.options,
    commands: [],
    prompt: { image: true, audio: true, embeddedContext: true },
    mcp: { http: true, sse: true },
    linkedDirectories: false,
    authMethods: [],
    ...part,
  };
}

/** What a list shows of one Session. */
export function info(sessionId: string, part: Partial<SessionInfo> = {}): SessionInfo {
  return {
    sessionId,
    cwd: "/work",
    roots: [],
    engineId: "fake",
    createdAt: 0,
    updatedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    config: CONFIG,
    commands: [],
    ...part,
  };
}

/** Time that stands still until it is moved. The pause between an update and an answer is a real turn of the event loop. */
export class FakeClock implements Clock {
  /** Called with each pause. */
  paused: () => void = () => {};
  #now = 0;
  #sleepers: { readonly ms: number; readonly due: number; wake(): void }[] = [];
  #asked = Promise.withResolvers<void>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms === 2) {
      this.paused();
      return systemClock.turn();
    }
    const slept = Promise.withResolvers<void>();
    const sleeper = { ms, due: this.#now + ms, wake: slept.resolve };
    this.#sleepers.push(sleeper);
    signal?.addEventListener("abort", () => {
      this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
      slept.reject(signal.reason);
    }, { once: true });
    this.#asked.resolve();
    this.#asked = Promise.withResolvers();
    return slept.promise;
  }

  turn(): Promise<void> {
    return systemClock.turn();
  }

  /** Waits until something sleeps for so long, then moves on by `passed`. */
  async pass(ms: number, passed: number = ms): Promise<void> {
    while (this.#sleepers.every((sleeper) => sleeper.ms !== ms)) await this.#asked.promise;
    this.#now += passed;
    for (const sleeper of this.#sleepers.filter(({ due }) => due <= this.#now)) sleeper.wake();
    this.#sleepers = this.#sleepers.filter(({ due }) => due > this.#now);
  }
}

/** A log that keeps what it was told. */
export class FakeLog implements Log {
  readonly lines: string[] = [];
  debug = (message: string, data?: JsonObject): void => this.#keep("debug", message, data);
  info = (message: string, data?: JsonObject): void => this.#keep("info", message, data);
  warn = (message: string, data?: JsonObject): void => this.#keep("warn", message, data);
  error = (message: string, data?: JsonObject): void => this.#keep("error", message, data);

  #keep(level: string, message: string, data: JsonObject | undefined): void {
    this.lines.push(`${level} ${message} ${JSON.stringify(data ?? {})}`);
  }
}

/** Files that nobody may ask for. */
export const NO_FILES: Files = {
  directory: () => Promise.reject(new Error("The front opened a directory")),
  link: () => Promise.reject(new Error("The front opened a file")),
};

/** A Host that has a profile and refuses everything else, keeping the names of what it was asked. */
export class FakeHost implements RuntimeHost {
  readonly connectionId = "connection";
  /** Operations that were asked for. */
  readonly asked: string[] = [];
  readonly sessions: RuntimeHost["sessions"];
  readonly turns: RuntimeHost["turns"];
  readonly interactions: RuntimeHost["interactions"];
  readonly calls: RuntimeHost["calls"];
  readonly artifacts: RuntimeHost["artifacts"];
  readonly grants: RuntimeHost["grants"];
  /** Absent unless a test brings it, before the handshake. */
  extensions?: RuntimeHost["extensions"];
  #profile: EngineProfile;

  constructor(profile: EngineProfile) {
    this.#profile = profile;
    const refuse = (name: string) => () => {
      this.asked.push(name);
      return Promise.reject(new HostError("unavailable", "The Host is not there"));
    };
    this.sessions = {
      create: refuse("create"),
      get: refuse("get"),
      list: refuse("list"),
      remove: refuse("remove"),
      bind: refuse("bind"),
      configure: refuse("configure"),
      open: refuse("open"),
      release: refuse("release"),
    };
    this.turns = {
      start: refuse("start"),
      query: refuse("query"),
      stop: refuse("stop"),
      steer: refuse("steer"),
      adopt: refuse("adopt"),
    };
    this.interactions = { query: refuse("query"), answer: refuse("answer") };
    this.calls = { settle: refuse("settle"), fail: refuse("fail") };
    this.artifacts = {
      begin: refuse("begin"),
      append: refuse("append"),
      commit: refuse("commit"),
      abort: refuse("abort"),
      read: refuse("read"),
      list: refuse("list"),
    };
    this.grants = { list: refuse("list"), revoke: refuse("revoke") };
  }

  describe(): EngineProfile {
    return this.#profile;
  }

  // deno-lint-ignore require-yield
  async *watch(): AsyncIterable<never> {
    this.asked.push("watch");
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** What a fake Session does with a prompt. */
export type Prompted = (
  parts: SessionParts,
  sessionId: string,
  draft: Draft,
  signal: AbortSignal,
) => Promise<PromptAnswer>;

/** Sessions that do what a test says and keep the calls they got, in order. */
export class FakeSessions implements ConnectionSessions {
  readonly calls: string[] = [];
  readonly drafts: Draft[] = [];
  readonly places: SessionPlace[] = [];
  readonly owned: Set<string> = new Set();
  page: (request: { cwd?: string; cursor?: string; limit?: number }) => SessionPage = () => ({
    sessions: [],
  });
  prompted: Prompted = () => Promise.resolve({ stopReason: "end_turn" });
  created: (sessionId: string) => SessionInfo = (sessionId) => info(sessionId);
  announced: (parts: SessionParts, sessionId: string) => void = () => {};
  #parts: SessionParts;
  #running: Map<string, PromiseWithResolvers<PromptAnswer>[]> = new Map();
  #made = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  create(request: SessionPlace): Promise<SessionInfo> {
    this.calls.push("create");
    this.places.push(request);
    const sessionId = `s${++this.#made}`;
    this.owned.add(sessionId);
    return Promise.resolve(this.created(sessionId));
  }

  list(request: { cwd?: string; cursor?: string; limit?: number }): Promise<SessionPage> {
    this.calls.push(`list ${JSON.stringify(request)}`);
    return Promise.resolve(this.page(request));
  }

  load(sessionId: string, request: SessionPlace): Promise<SessionInfo> {
    this.calls.push(`load ${sessionId}`);
    this.places.push(request);
    return Promise.resolve(info(sessionId));
  }

  resume(sessionId: string, request: SessionPlace): Promise<SessionInfo> {
    this.calls.push(`resume ${sessionId}`);
    this.places.push(request);
    return Promise.resolve(info(sessionId));
  }

  remove(sessionId: string): Promise<void> {
    this.calls.push(`remove ${sessionId}`);
    return Promise.resolve();
  }

  async prompt(sessionId: string, draft: Draft, signal: AbortSignal): Promise<PromptAnswer> {
    this.calls.push(
      `prompt ${sessionId} ${draft.parts.map((part) => part.kind === "text" ? part.text : part.kind)}`,
    );
    this.#own(sessionId);
    this.drafts.push(draft);
    return await this.prompted(this.#parts, sessionId, draft, signal);
  }

  cancel(sessionId: string): void {
    this.calls.push(`cancel ${sessionId}`);
    for (const waiting of this.#running.get(sessionId) ?? []) waiting.resolve({ stopReason: "cancelled" });
    this.#running.delete(sessionId);
  }

  /** A prompt that waits for a cancel, by `session/cancel` or by its signal. */
  untilCancelled(sessionId: string, signal: AbortSignal): Promise<PromptAnswer> {
    const waiting = Promise.withResolvers<PromptAnswer>();
    this.#running.set(sessionId, [...this.#running.get(sessionId) ?? [], waiting]);
    signal.addEventListener("abort", () => waiting.resolve({ stopReason: "cancelled" }), { once: true });
    return waiting.promise;
  }

  close(sessionId: string): Promise<void> {
    this.calls.push(`close ${sessionId}`);
    this.#own(sessionId);
    this.owned.delete(sessionId);
    return Promise.resolve();
  }

  configure(sessionId: string, { id, value }: ConfigChange): Promise<Config> {
    this.calls.push(`configure ${sessionId} ${id}=${value}`);
    this.#own(sessionId);
    const options = CONFIG.options.map((option) => {
      if (option.id !== id) return option;
      if (option.type === "boolean" && typeof value === "boolean") return { ...option, value };
      if (option.type === "select" && option.choices.some((choice) => choice.value === value)) {
        return { ...option, value: String(value) };
      }
      throw new SessionError("invalid_params", `The option "${id}" has no such value`, { option: id });
    });
    return Promise.resolve({ revision: 2, options });
  }

  owns(sessionId: string): boolean {
    return this.owned.has(sessionId);
  }

  announce(sessionId: string): void {
    this.calls.push(`announce ${sessionId}`);
    this.announced(this.#parts, sessionId);
  }

  shutdown(): Promise<void> {
    this.calls.push("shutdown");
    return Promise.resolve();
  }

  #own(sessionId: string): void {
    if (this.owned.has(sessionId)) return;
    throw new SessionError("unknown_session", "This connection does not hold the Session", { sessionId });
  }
}
