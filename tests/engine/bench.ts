import type { ClientServices } from "../../src/host/contract.ts";
import { digestOf } from "../../src/model/digest.ts";
import type { EngineContext, EngineOutcome, EngineSession, EngineTurn } from "../../src/engine/contract.ts";
import type { ArtifactReference } from "../../src/model/artifact.ts";
import type { Json } from "../../src/model/json.ts";
import type { PromptPart } from "../../src/model/prompt.ts";
import { PROFILE } from "../../src/engine/workbench/profile.ts";
import { RecordingSink, type SinkParts } from "./sink.ts";
import { workbench, type WorkbenchOptions } from "../../src/engine/workbench/mod.ts";

/** What a Session of the workbench stands on in a test. */
export interface BenchParts extends Omit<SinkParts, "signal"> {
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly mode?: string;
  readonly services?: Partial<ClientServices>;
  readonly restored?: Json;
  /** Is told of each title before the Host has kept it. */
  readonly titled?: () => void;
  readonly options?: WorkbenchOptions;
}

/** What a Turn did. */
export interface Deed {
  readonly sink: RecordingSink;
  readonly stop: AbortController;
  readonly outcome: Promise<EngineOutcome>;
}

/** A Host's side of one Session of the workbench. */
export class Bench {
  readonly #parts: BenchParts;
  readonly #session: EngineSession;
  #turns = 0;
  /** May be changed between and within Turns. */
  mode: string;
  readonly titles: string[];
  readonly states: Json[];
  readonly #held: Map<string, Uint8Array | "stuck">;

  private constructor(parts: BenchParts, session: EngineSession, host: FakeHost) {
    this.#parts = parts;
    this.#session = session;
    this.mode = parts.mode ?? "ask";
    this.titles = host.titles;
    this.states = host.states;
    this.#held = host.held;
  }

  /** Opens a Session. */
  static async open(parts: BenchParts = {}): Promise<Bench> {
    const host: FakeHost = { titles: [], states: [], held: new Map() };
    const mode = (): string => bench?.mode ?? "ask";
    const session = await workbench(parts.options).open(contextOf(parts, host, mode));
    const bench: Bench = new Bench(parts, session, host);
    return bench;
  }

  /** Starts a Turn with a text or with parts. */
  start(prompt: string | readonly PromptPart[]): Deed {
    const parts: readonly PromptPart[] = typeof prompt === "string"
      ? [{ kind: "text", text: prompt }]
      : prompt;
    const stop = new AbortController();
    const sink = new RecordingSink({ ...this.#parts, signal: stop.signal });
    const turn: EngineTurn = {
      turnId: `turn${++this.#turns}`,
      runId: `run${this.#turns}`,
      input: { parts },
      services: () => ({
        readTextFile: false,
        writeTextFile: false,
        terminal: false,
        forms: false,
        ...this.#parts.services,
      }),
    };
    return { sink, stop, outcome: this.#session.run(turn, sink, stop.signal) };
  }

  /** Does a whole Turn. */
  async run(
    prompt: string | readonly PromptPart[],
  ): Promise<{ sink: RecordingSink; outcome: EngineOutcome }> {
    const { sink, outcome } = this.start(prompt);
    return { sink, outcome: await outcome };
  }

  /** Gives bytes to the Host and returns their reference. */
  keep(name: string, text: string, mimeType = "text/plain"): ArtifactReference {
    const bytes = new TextEncoder().encode(text);
    const artifactId = `artifact${this.#held.size}`;
    this.#held.set(artifactId, bytes);
    return { artifactId, name, mimeType, size: bytes.length, sha256: digestOf(text) };
  }

  /** Makes an Artifact whose bytes never come. */
  stick(artifactId: string): void {
    this.#held.set(artifactId, "stuck");
  }

  /** Closes the Session. */
  close(): Promise<void> {
    return this.#session.close();
  }
}

interface FakeHost {
  readonly titles: string[];
  readonly states: Json[];
  readonly held: Map<string, Uint8Array | "stuck">;
}

function contextOf(parts: BenchParts, host: FakeHost, mode: () => string): EngineContext {
  return {
    sessionId: "session",
    cwd: parts.cwd ?? "/nowhere",
    roots: parts.roots ?? [],
    mcpServers: [],
    restored: parts.restored,
    config: () => ({
      revision: 1,
      options: PROFILE.options.map((option) =>
        option.type === "select" ? { ...option, value: mode() } : option
      ),
    }),
    readArtifact: ({ artifactId }, offset, length) => {
      const bytes = host.held.get(artifactId);
      if (bytes === "stuck") return new Promise(() => {});
      if (bytes === undefined) return Promise.reject(new Error(`There is no Artifact ${artifactId}`));
      return Promise.resolve(bytes.subarray(offset, offset + length));
    },
    history: () => Promise.resolve([]),
    state: (value) => {
      host.states.push(value);
      return Promise.resolve();
    },
    commands: () => Promise.resolve(),
    usage: () => Promise.resolve(),
    title: (title) => {
      host.titles.push(title);
      parts.titled?.();
      return Promise.resolve();
    },
    configured: () => Promise.resolve(),
    elicited: () => Promise.resolve(),
    beside: () => Promise.resolve(undefined),
  };
}

/** A fresh folder by its real path, gone when it goes out of scope. */
export async function folder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir());
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** What a folder holds. */
export async function namesIn(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path))).map(({ name }) => name);
}

/** The answer of a person who always chooses the same option. */
export function chooses(optionId: string): NonNullable<SinkParts["person"]> {
  return () => ({ kind: "option", optionId });
}
