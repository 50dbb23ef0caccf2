import { acpEngine, type AcpEngineOptions, type AgentCommand } from "../../../src/engine/acp/mod.ts";
import type { ArtifactReference } from "../../../src/model/artifact.ts";
import type { ClientServices, McpServer } from "../../../src/host/contract.ts";
import type { Command, Usage } from "../../../src/model/plan.ts";
import type { Config, ConfigOption } from "../../../src/model/config.ts";
import { digestOf } from "../../../src/model/digest.ts";
import type {
  Engine,
  EngineContext,
  EngineOutcome,
  EngineSession,
  EngineTurn,
} from "../../../src/engine/contract.ts";
import type { Json, JsonObject, Meta } from "../../../src/model/json.ts";
import type { Log } from "../../../src/model/log.ts";
import type { Manners } from "./scripted_agent.ts";
import type { PromptPart } from "../../../src/model/prompt.ts";
import type { SessionMetas } from "../../../src/model/metas.ts";
import { RecordingSink, type SinkParts } from "../sink.ts";
import type { Remembered } from "../../../src/engine/remembered.ts";

/** How the agent of the tests is started. */
export function scripted(manners: Manners = {}): AgentCommand {
  return {
    program: Deno.execPath(),
    args: [
      "run",
      "-A",
      "--no-check",
      new URL("scripted_agent.ts", import.meta.url).pathname,
      JSON.stringify(manners),
    ],
  };
}

/** A log that is kept. */
export class KeptLog implements Log {
  readonly lines: { readonly message: string; readonly data?: JsonObject }[] = [];
  readonly #told = new Map<string, PromiseWithResolvers<void>>();
  debug(message: string, data?: JsonObject): void {
    this.#keep(message, data);
  }
  info(message: string, data?: JsonObject): void {
    this.#keep(message, data);
  }
  warn(message: string, data?: JsonObject): void {
    this.#keep(message, data);
  }
  error(message: string, data?: JsonObject): void {
    this.#keep(message, data);
  }
  /** Resolves when this fault was told of. */
  fault(name: string): Promise<void> {
    if (this.faults().includes(name)) return Promise.resolve();
    const told = this.#told.get(name) ?? Promise.withResolvers<void>();
    this.#told.set(name, told);
    return told.promise;
  }
  /** The faults that were told of, in order. */
  faults(): string[] {
    return this.lines.flatMap(({ data }) => typeof data?.fault === "string" ? [data.fault] : []);
  }
  #keep(message: string, data?: JsonObject): void {
    this.lines.push({ message, data });
    if (typeof data?.fault === "string") this.#told.get(data.fault)?.resolve();
  }
}

/** What a Session of an agent stands on in a test. */
export interface SeatParts extends Omit<SinkParts, "signal"> {
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  readonly meta?: Meta;
  readonly restored?: Json;
  readonly history?: readonly Remembered[];
  readonly services?: Partial<ClientServices>;
  readonly options?: readonly ConfigOption[];
  /** Whether the Host cannot keep anything. */
  readonly full?: boolean;
}

/** An Engine with an agent behind it, and all that it says. */
export class Stage implements AsyncDisposable {
  readonly engine: Engine;
  readonly log: KeptLog = new KeptLog();
  readonly remembered: Json[] = [];

  /** Starts nothing yet. */
  constructor(
    manners: Manners | { readonly command: AgentCommand } = {},
    more: Partial<AcpEngineOptions> = {},
  ) {
    this.engine = acpEngine({
      engineId: "scripted",
      command: "command" in manners ? manners.command : scripted(manners),
      log: this.log,
      version: "0.0.0",
      remember: (value) => void this.remembered.push(value),
      ...more,
    });
  }

  /** Opens a Session. */
  async open(parts: SeatParts = {}): Promise<Visit> {
    const host = new FakeHost(parts, this.engine.profile.options);
    return new Visit(parts, host, await this.engine.open(host.context()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.engine.close();
  }
}

/** One opening of a Session. */
export class Visit {
  readonly host: FakeHost;
  readonly session: EngineSession;
  readonly #parts: SeatParts;
  #turns = 0;

  constructor(parts: SeatParts, host: FakeHost, session: EngineSession) {
    this.#parts = parts;
    this.host = host;
    this.session = session;
  }

  /** Starts a Turn. */
  start(
    prompt: string | readonly PromptPart[],
    meta?: Meta,
  ): { sink: RecordingSink; stop: AbortController; outcome: Promise<EngineOutcome> } {
    const stop = new AbortController();
    const sink = new RecordingSink({ ...this.#parts, signal: stop.signal });
    const turn: EngineTurn = {
      turnId: `turn${++this.#turns}`,
      runId: `run${this.#turns}`,
      input: { parts: typeof prompt === "string" ? [{ kind: "text", text: prompt }] : prompt, meta },
      services: () => ({
        readTextFile: false,
        writeTextFile: false,
        terminal: false,
        forms: false,
        ...this.#parts.services,
      }),
    };
    return { sink, stop, outcome: this.session.run(turn, sink, stop.signal) };
  }

  /** Does a whole Turn. */
  async run(
    prompt: string | readonly PromptPart[],
    meta?: Meta,
  ): Promise<{ sink: RecordingSink; outcome: EngineOutcome }> {
    const { sink, outcome } = this.start(prompt, meta);
    return { sink, outcome: await outcome };
  }
}

/** The Host's side of a Session. */
export class FakeHost {
  readonly states: Json[] = [];
  readonly titles: string[] = [];
  readonly usage: Usage[] = [];
  /** Metadata that came with announcements. */
  readonly metas: [of: keyof SessionMetas, meta: Meta][] = [];
  readonly elicited: string[] = [];
  /** What was said beside the Turns. */
  readonly late: { readonly sink: RecordingSink; readonly outcome: Promise<EngineOutcome> }[] = [];
  readonly commands: (readonly Command[])[] = [];
  options: readonly ConfigOption[];
  readonly #parts: SeatParts;
  readonly #held = new Map<string, Uint8Array>();
  #changed = Promise.withResolvers<void>();

  constructor(parts: SeatParts, defaults: readonly ConfigOption[]) {
    this.#parts = parts;
    this.options = parts.options ?? defaults;
  }

  #meta(of: keyof SessionMetas, meta: Meta | undefined): void {
    if (meta !== undefined) this.metas.push([of, meta]);
  }

  /** The settings. */
  config(): Config {
    return { revision: 1, options: this.options };
  }

  /** Resolves when `test` holds, looking after each announcement. */
  async when(test: () => boolean): Promise<void> {
    while (!test()) await this.#changed.promise;
  }

  /** Keeps bytes and gives their reference. */
  keep(name: string, mimeType: string, bytes: Uint8Array | string): ArtifactReference {
    const kept = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    const artifactId = `artifact${this.#held.size}`;
    this.#held.set(artifactId, kept);
    return { artifactId, name, mimeType, size: kept.length, sha256: digestOf("") };
  }

  context(): EngineContext {
    const { sessionId = "session", cwd = Deno.cwd(), roots = [], mcpServers = [], meta, restored } =
      this.#parts;
    const told = (): Promise<void> => {
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
      return Promise.resolve();
    };
    return {
      sessionId,
      cwd,
      roots,
      mcpServers,
      meta,
      restored,
      config: () => this.config(),
      readArtifact: ({ artifactId }, offset, length) =>
        Promise.resolve(this.#held.get(artifactId)!.subarray(offset, offset + length)),
      history: () => Promise.resolve(this.#parts.history ?? []),
      state: (value) => {
        if (this.#parts.full === true) return Promise.reject(new Error("The disk is full"));
        this.states.push(value);
        return told();
      },
      commands: (commands, meta) => {
        this.#meta("commands", meta);
        this.commands.push(commands);
        return told();
      },
      usage: (usage) => {
        this.usage.push(usage);
        return told();
      },
      title: (title, meta) => {
        this.#meta("title", meta);
        this.titles.push(title);
        return told();
      },
      configured: (options, { options: meta, mode } = {}) => {
        this.#meta("options", meta);
        this.#meta("mode", mode);
        this.options = options;
        return told();
      },
      elicited: (elicitationId) => {
        this.elicited.push(elicitationId);
        return told();
      },
      beside: async (work) => {
        const sink = new RecordingSink(this.#parts);
        this.late.push({ sink, outcome: work(sink, new AbortController().signal) });
        await told();
        return `late${this.late.length}`;
      },
    };
  }
}
