import type {
  Admission,
  EngineProfile,
  HostArtifacts,
  HostCalls,
  HostGrants,
  HostInteractions,
  HostSessions,
  HostTurns,
  ReadPage,
  ReadRequest,
  RuntimeHost,
  SessionChange,
  SessionInfo,
  Subscription,
  TurnState,
} from "../../src/host/contract.ts";
import { HostError, type Reply } from "../../src/host/errors.ts";
import type {
  Frame,
  Interaction,
  LiveRun,
  Row,
  RowBody,
  Run,
  RunEnd,
  Snapshot,
} from "../../src/model/mod.ts";
import { digestOf, encodeBody } from "../../src/model/mod.ts";

/** What a test may put in place of an operation's ordinary answer. */
export interface Script {
  create?: HostSessions["create"];
  get?: HostSessions["get"];
  open?: () => Promise<void>;
  configure?: HostSessions["configure"];
  start?: (request: { sessionId: string; turnId: string }) => Promise<Reply<Admission>>;
  query?: (request: { turnId: string; settle: boolean }) => Promise<TurnState>;
  stop?: (run: Run) => Promise<void>;
  adopt?: HostTurns["adopt"];
  steer?: HostTurns["steer"];
  answer?: HostInteractions["answer"];
  release?: () => Promise<void>;
  read?: (request: ReadRequest) => Promise<ReadPage> | undefined;
  append?: HostArtifacts["append"];
  abort?: HostArtifacts["abort"];
  settle?: HostCalls["settle"];
}

/** A Subscription whose frames are the test's. */
class ScriptedSubscription implements Subscription {
  readonly snapshot: Snapshot;
  closed = false;
  #host: ScriptedHost;
  #queue: Frame[] = [];
  #sent = 0;
  #wake: (() => void) | undefined;

  constructor(host: ScriptedHost, snapshot: Snapshot) {
    this.#host = host;
    this.snapshot = snapshot;
  }

  push(frame: Frame): void {
    this.#queue.push(frame);
    this.#wake?.();
  }

  /** Skips a number, as if a frame was lost. */
  lose(): void {
    this.#sent++;
  }

  async next(): Promise<{ first: number; frames: readonly Frame[] }> {
    if (this.#queue.length === 0 && !this.closed) await new Promise<void>((resolve) => this.#wake = resolve);
    const frames = this.closed ? [] : this.#queue;
    this.#queue = [];
    const first = this.#sent + 1;
    this.#sent += frames.length;
    if (frames.some((frame) => frame.type === "closed")) this.#host.forget(this);
    return { first, frames };
  }

  read(request: ReadRequest): Promise<ReadPage> {
    const held = request.held?.length ?? 0;
    this.#host.operations.push(
      `read ${request.turnId ?? "*"} ${request.after}..${request.through ?? ""} held ${held}`,
    );
    if (this.closed) return Promise.reject(new HostError("unavailable", "The Subscription is over"));
    return this.#host.script.read?.(request) ?? Promise.resolve(this.#host.page(request));
  }

  close(): Promise<void> {
    if (!this.closed) this.#host.operations.push("close");
    this.closed = true;
    this.#host.forget(this);
    this.#wake?.();
    return Promise.resolve();
  }
}

/**
 * A Host for one Session that does only what a test says: it can refuse, delay, lose, repeat, rewrite, evict, end and restart. Every
 * operation is recorded in order, so that a command sent twice is seen.
 */
export class ScriptedHost implements RuntimeHost {
  readonly connectionId = "here";
  readonly operations: string[] = [];
  readonly subscriptions: ScriptedSubscription[] = [];
  readonly rows: Row[] = [];
  readonly live: Map<string, LiveRun> = new Map();
  readonly ended: Map<string, TurnState & { kind: "ended" }> = new Map();
  readonly pending: Map<string, Interaction> = new Map();
  script: Script = {};
  storeId = "store";
  watermark = 0;
  info: SessionInfo = {
    sessionId: "s",
    cwd: "/work",
    roots: [],
    engineId: "scripted",
    createdAt: 0,
    updatedAt: 0,
    config: { revision: 0, options: [] },
    commands: [],
  };

  describe(): EngineProfile {
    return {
      engineId: "scripted",
      title: "Scripted",
      options: [],
      commands: [],
      prompt: { image: true, audio: true, embeddedContext: true },
      mcp: { http: false, sse: false },
      linkedDirectories: false,
      authMethods: [],
    };
  }

  /** Publishes a frame to every open Subscription. */
  frame(frame: Frame): void {
    for (const subscription of [...this.subscriptions]) subscription.push(frame);
  }

  /** Ends every Subscription with a reason. */
  evict(reason: "slow_consumer" | "lost" | "removed" | "draining" = "lost"): void {
    this.frame({ type: "closed", reason });
  }

  /** The Run of a Turn, as this Host names it. */
  run(turnId: string): Run {
    return { turnId, runId: `run-${turnId}` };
  }

  /** Makes a Run live and says so. */
  begin(turnId: string, options: Partial<LiveRun> = {}): Run {
    const run = this.run(turnId);
    const live: LiveRun = {
      run,
      phase: "running",
      foreground: true,
      origin: { kind: "connection", connectionId: this.connectionId },
      presenter: this.connectionId,
      cut: this.last,
      ...options,
    };
    this.live.set(turnId, live);
    this.frame({ type: "run", live });
    return run;
  }

  /** Streams a piece of text. */
  say(turnId: string, messageId: string, offset: number, text: string): void {
    this.frame({ type: "message", run: this.run(turnId), messageId, channel: "text", offset, text });
  }

  /** Writes a row and announces it. */
  row(turnId: string, id: string, body: RowBody, options: { complete?: boolean } = {}): Row {
    const text = encodeBody(body);
    const row: Row = {
      seq: this.last + 1,
      run: this.run(turnId),
      kind: body.kind,
      id,
      complete: options.complete ?? true,
      sensitive: false,
      length: text.length,
      sha256: digestOf(text),
      at: 0,
      body: { offset: 0, text },
    };
    this.rows.push(row);
    if (row.complete) this.watermark = row.seq;
    this.frame({ type: "transcript", watermark: this.watermark, last: this.last });
    return row;
  }

  /** Ends a Run: its end row, then the frame. */
  end(turnId: string, end: RunEnd = { how: "completed", stopReason: "end_turn" }): void {
    const through = this.row(turnId, `end-${turnId}`, { kind: "end", end }).seq;
    this.live.delete(turnId);
    this.ended.set(turnId, { kind: "ended", run: this.run(turnId), end, through });
    this.frame({ type: "run_ended", run: this.run(turnId), end, through });
  }

  /** Says and completes a message, with its row. */
  message(turnId: string, messageId: string, text: string): void {
    this.say(turnId, messageId, 0, text);
    this.row(turnId, messageId, { kind: "text", text });
    const run = this.run(turnId);
    const sha256 = digestOf(text);
    this.frame({ type: "message_complete", run, messageId, channel: "text", length: text.length, sha256 });
  }

  get last(): number {
    return this.rows.at(-1)?.seq ?? 0;
  }

  /** Operations of some kinds, by their first word. */
  ops(...kinds: string[]): string[] {
    return this.operations.filter((operation) => kinds.includes(operation.split(" ")[0]!));
  }

  forget(subscription: ScriptedSubscription): void {
    const index = this.subscriptions.indexOf(subscription);
    subscription.closed = true;
    if (index >= 0) this.subscriptions.splice(index, 1);
  }

  page(request: ReadRequest): ReadPage {
    const rows = this.rows.filter((row) =>
      row.seq > request.after && row.seq <= (request.through ?? Infinity) &&
      (request.turnId === undefined || row.run.turnId === request.turnId)
    );
    return {
      rows: rows.map((row) => {
        const held = request.held?.find((each) => each.id === row.id && each.kind === row.kind);
        const text = row.body!.text;
        if (held === undefined || digestOf(text.slice(0, held.length)) !== held.sha256) return row;
        if (held.length >= text.length) return { ...row, body: undefined };
        return { ...row, body: { offset: held.length, text: text.slice(held.length) } };
      }),
    };
  }

  #open(): Subscription {
    const subscription = new ScriptedSubscription(this, {
      storeId: this.storeId,
      hostEpoch: "epoch",
      runs: [...this.live.values()],
      config: this.info.config,
      commands: this.info.commands,
      interactions: [...this.pending.values()],
      watermark: this.watermark,
      last: this.last,
      messages: [],
    });
    this.subscriptions.push(subscription);
    return subscription;
  }

  readonly sessions: HostSessions = {
    create: (request) => {
      this.operations.push(`create ${request.sessionId}`);
      this.info = { ...this.info, ...request, engineId: "scripted" };
      return this.script.create?.(request) ?? Promise.resolve({ kind: "done", value: this.info });
    },
    get: (sessionId) => {
      this.operations.push(`get ${sessionId}`);
      return this.script.get?.(sessionId) ?? Promise.resolve(this.info);
    },
    list: () => {
      this.operations.push("list");
      return Promise.resolve({ sessions: [this.info] });
    },
    remove: (sessionId) => {
      this.operations.push(`remove ${sessionId}`);
      return Promise.resolve();
    },
    bind: ({ roots }) => {
      this.operations.push(`bind ${roots.join(",")}`);
      this.info = { ...this.info, roots };
      return Promise.resolve(this.info);
    },
    configure: (request) => {
      this.operations.push(`configure ${request.expectedRevision}`);
      if (this.script.configure !== undefined) return this.script.configure(request);
      this.info = { ...this.info, config: { ...this.info.config, revision: request.expectedRevision + 1 } };
      return Promise.resolve(this.info.config);
    },
    open: async () => {
      this.operations.push("open");
      await this.script.open?.();
      return this.#open();
    },
    release: async () => {
      this.operations.push("release");
      await this.script.release?.();
    },
  };

  readonly turns: HostTurns = {
    start: (request) => {
      this.operations.push(`start ${request.turnId}`);
      if (this.script.start !== undefined) return this.script.start(request);
      const run = this.begin(request.turnId);
      return Promise.resolve({ kind: "done", value: { kind: "admitted", run } });
    },
    query: ({ turnId, settle }) => {
      this.operations.push(`query ${turnId}${settle ? " settle" : ""}`);
      if (this.script.query !== undefined) return this.script.query({ turnId, settle });
      const live = this.live.get(turnId);
      if (live !== undefined) return Promise.resolve({ kind: "live", run: live.run, phase: live.phase });
      return Promise.resolve(this.ended.get(turnId) ?? { kind: "not_found", settled: settle });
    },
    stop: async ({ run }) => {
      this.operations.push(`stop ${run.turnId}`);
      if (this.script.stop !== undefined) return await this.script.stop(run);
      if (this.live.has(run.turnId)) this.end(run.turnId, { how: "stopped", by: this.connectionId });
    },
    steer: async (request) => {
      this.operations.push(`steer ${request.run.turnId} ${request.steerId}`);
      if (this.script.steer !== undefined) return await this.script.steer(request);
      throw new HostError("unavailable", "This Host takes no words while it works");
    },
    adopt: async (request) => {
      this.operations.push(`adopt ${request.run.turnId}`);
      await this.script.adopt?.(request);
      const live = this.live.get(request.run.turnId)!;
      this.live.set(request.run.turnId, { ...live, presenter: this.connectionId });
    },
  };

  readonly interactions: HostInteractions = {
    query: ({ interactionId }) => {
      this.operations.push(`interaction ${interactionId}`);
      return Promise.resolve({ kind: "open" });
    },
    answer: async (request) => {
      const said = request.answer.kind === "option" ? request.answer.optionId : request.answer.kind;
      this.operations.push(`answer ${request.interactionId} ${said}`);
      await this.script.answer?.(request);
    },
  };

  readonly calls: HostCalls = {
    settle: async (request) => {
      this.operations.push(`settle ${request.callId} ${JSON.stringify(request.result)}`);
      await this.script.settle?.(request);
    },
    fail: ({ callId, code }) => {
      this.operations.push(`fail ${callId} ${code}`);
      return Promise.resolve();
    },
  };

  readonly artifacts: HostArtifacts = {
    begin: ({ uploadId }) => this.#artifact("begin", uploadId),
    append: async (request) => {
      await this.#artifact("append", request.uploadId);
      await this.script.append?.(request);
    },
    commit: async ({ uploadId, size, sha256 }) => {
      await this.#artifact("commit", uploadId);
      return { artifactId: uploadId, name: "file", mimeType: "text/plain", size, sha256 };
    },
    abort: async (request) => {
      await this.#artifact("abort", request.uploadId);
      await this.script.abort?.(request);
    },
    read: () => Promise.reject(new HostError("not_found", "This Host keeps no bytes")),
    list: () => Promise.resolve([]),
  };

  #artifact(operation: string, uploadId: string): Promise<void> {
    this.operations.push(`${operation} ${uploadId}`);
    return Promise.resolve();
  }

  readonly grants: HostGrants = {
    list: () => Promise.resolve([]),
    revoke: () => Promise.resolve(),
  };

  // deno-lint-ignore require-yield
  async *watch(signal: AbortSignal): AsyncIterable<SessionChange> {
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    }
  }

  close(): Promise<void> {
    this.operations.push("close connection");
    return Promise.resolve();
  }
}
