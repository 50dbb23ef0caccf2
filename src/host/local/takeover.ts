import type { EngineContext, EngineSession } from "../../engine/contract.ts";
import type { EnginePast, PastTurn } from "../../engine/archive.ts";
import { encodeBody } from "../../model/row.ts";
import type { Json, Meta } from "../../model/json.ts";
import type { McpServer, SessionInfo } from "../contract.ts";
import type { SessionState, TurnRecord, Write } from "../store/contract.ts";
import type { TurnInput } from "../../model/prompt.ts";
import { HostError } from "../errors.ts";
import { ActiveRun } from "./active_run.ts";
import { boundCommands, boundTitle, boundUsage } from "./bounds.ts";
import { Fanout } from "./fanout.ts";
import { Journal } from "./journal.ts";
import { Patience } from "./patience.ts";
import { FixedRow } from "./row.ts";
import { RunSink, type SinkParts } from "./sink.ts";
import type { EngineGround } from "./supervisor.ts";
import { RunTranscript, type TranscriptParts } from "./transcript.ts";
import type { HostParts } from "./works.ts";

/** What a {@linkcode Takeover} is made of. */
export interface TakeoverParts {
  readonly host: HostParts;
  /** As lists show it now, with the roots that it is to have. */
  readonly info: SessionInfo;
  readonly mcpServers: readonly McpServer[];
  readonly meta: Meta | undefined;
  /** Who wants it. */
  readonly connectionId: string;
}

/** A Session that was taken over: what is to be saved of it in one go, and what is to go on with it. */
export interface Taken {
  readonly info: SessionInfo;
  readonly writes: readonly Write[];
  readonly state: SessionState;
}

/** An Engine's Session that is open before the Host's is. */
export interface Inherited {
  readonly session: EngineSession;
  /** Says who hears the Engine's Session from now on. */
  settle(context: EngineContext): void;
}

/** One Turn of the past as it will be saved. */
interface Chapter {
  readonly writes: Write[];
  length: number;
}

const ENDED = { how: "completed", stopReason: "end_turn" } as const;
const DONE: Promise<void> = Promise.resolve();

/**
 * Takes in what an Engine tells of a Session that the Host does not have yet. Nothing is saved before all of it is there; of a very long
 * past the oldest Turns are left out, and that is said.
 */
export class Takeover {
  /** What the Engine is given. It leads to the Host's Session once that is there. */
  readonly context: EngineContext;
  readonly past: EnginePast = { turn: (input) => this.#turn(input) };
  readonly #parts: TakeoverParts;
  readonly #journal: Journal;
  readonly #transcript: TranscriptParts;
  readonly #sink: SinkParts;
  readonly #own: EngineGround;
  /** Oldest first; the last one is at hand. */
  readonly #chapters: Chapter[] = [];
  #length = 0;
  /** Whether Turns were left out, or one alone is too much. */
  #cut: "whole" | "cut" | "endless" = "whole";
  #run: ActiveRun | undefined;
  #info: SessionInfo;
  #state: Json | undefined;
  /** What came behind the end and before the Host's Session was there. */
  #late: ((context: EngineGround) => Promise<unknown>)[] | undefined;
  #heir: EngineContext | undefined;

  /** Asks nothing of the Engine yet. */
  constructor(parts: TakeoverParts) {
    this.#parts = parts;
    this.#info = parts.info;
    const { clock, ids, limits, log, pace, date } = parts.host;
    const fanout = new Fanout();
    this.#journal = new Journal({
      store: { commit: (batch) => Promise.resolve(this.#keep(batch)) },
      clock,
      limits,
      info: () => this.#info,
      events: { advanced: () => {}, failed: () => {} },
      // The first sequence is left for a word about what was left out.
      last: 1,
      watermark: 1,
    });
    const journal = this.#journal;
    const at = parts.info.updatedAt || date();
    // Rows of the past are not read while they are written.
    this.#transcript = {
      journal,
      fanout,
      limits,
      ids,
      log,
      date: () => at,
      stored: () => Promise.resolve(""),
    };
    this.#sink = {
      journal,
      pace,
      log,
      patience: new Patience(fanout, clock, 0),
      usage: (usage) => this.#set({ usage: boundUsage(usage, limits) ?? this.#info.usage }),
      ask: () => Promise.reject(over()),
      call: () => Promise.reject(over()),
      background: () => Promise.reject(over()),
    };
    this.#own = this.#ground();
    this.context = this.#lead();
  }

  /** The Engine has told everything. What it says from now on waits for {@linkcode settle}. */
  async finish(): Promise<Taken> {
    await this.#end();
    await this.#journal.close("save");
    if (this.#cut === "endless") throw this.#endless();
    this.#late = [];
    const writes = this.#chapters.flatMap((chapter) => chapter.writes);
    if (this.#cut === "cut") writes.unshift(...this.#note(writes));
    const { last } = this.#journal;
    const info = this.#info;
    const engineState = this.#state;
    if (engineState !== undefined) writes.push({ op: "engine_state", value: engineState });
    writes.push({ op: "watermark", seq: last });
    const state = { info, unended: [], grants: [], engineState, watermark: last, last, open: [] };
    return { info, writes, state };
  }

  /** The Host's Session is there and hears the Engine's. */
  settle(heir: EngineContext): void {
    const late = this.#late ?? [];
    this.#heir = heir;
    this.#late = undefined;
    const { log } = this.#parts.host;
    DONE.then(async () => {
      for (const act of late) await act(heir);
    }).catch((error) => log.debug("What an agent said early was not taken", { error: String(error) }));
  }

  async #turn(input: TurnInput | undefined): Promise<PastTurn> {
    await this.#end();
    if (this.#cut === "endless") throw this.#endless();
    const { host: { ids }, connectionId } = this.#parts;
    const key = { turnId: ids.next(), runId: ids.next() };
    const cut = this.#journal.last;
    this.#chapters.push({ writes: [], length: 0 });
    const transcript = new RunTranscript(key, this.#transcript);
    if (input !== undefined) transcript.words(key.turnId, input);
    const origin = { kind: "connection", connectionId } as const;
    const run = new ActiveRun({ key, foreground: true, origin, presenter: undefined, cut, transcript });
    this.#run = run;
    return { runId: key.runId, sink: new RunSink(run, this.#sink) };
  }

  async #end(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    run.end();
    const through = run.transcript.end(ENDED);
    const { key, origin, cut } = run;
    const turn: TurnRecord = { state: "ended", run: key, foreground: true, origin, cut, end: ENDED, through };
    await this.#journal.commit(() => [{ op: "turn", turn }]);
  }

  #keep(batch: readonly Write[]): void {
    const chapter = this.#chapters.at(-1);
    if (chapter === undefined) return;
    for (const write of batch) {
      // One watermark over everything is enough.
      if (write.op === "watermark") continue;
      chapter.writes.push(write);
      const length = write.op === "append" || write.op === "body" ? write.text.length : 0;
      chapter.length += length;
      this.#length += length;
    }
    const { takeoverLength } = this.#parts.host.limits;
    if (chapter.length > takeoverLength) {
      this.#cut = "endless";
      chapter.writes.length = 0;
    }
    if (this.#cut === "endless") return;
    for (const oldest of [...this.#chapters]) {
      if (this.#length <= takeoverLength || oldest === chapter) break;
      this.#length -= oldest.length;
      this.#chapters.shift();
      this.#cut = "cut";
    }
  }

  #endless(): HostError {
    const { takeoverLength: limit } = this.#parts.host.limits;
    const what = `"${this.#info.title ?? this.#info.sessionId}"`;
    return new HostError(
      "capacity",
      `${what} is too long to be taken over: one answer in it has more than ${limit} characters`,
      { data: { limit } },
    );
  }

  /** Says that the beginning is missing, as the first thing of the first Turn that is there. */
  #note(writes: readonly Write[]): readonly Write[] {
    const { host: { ids }, info } = this.#parts;
    const first = writes.find((write) => write.op === "row");
    if (first?.op !== "row") return [];
    const { run, at } = first.head;
    const title = "The beginning of this Session was left out";
    const text = `"${
      info.title ?? info.sessionId
    }" is too long to be taken over as a whole. The agent may still have all of it.`;
    const body = encodeBody({ kind: "notice", severity: "warning", title, text });
    return new FixedRow({ seq: 1, run, kind: "notice", id: ids.next(), at }, body).take();
  }

  /** Stands in for the Session until that is there. */
  #ground(): EngineGround {
    const { info, mcpServers, meta, host: { limits } } = this.#parts;
    const set = (change: Partial<SessionInfo>): Promise<void> => {
      this.#set(change);
      return DONE;
    };
    return {
      cwd: info.cwd,
      roots: info.roots,
      mcpServers,
      meta,
      config: () => this.#info.config,
      history: () => Promise.resolve([]),
      readArtifact: () => Promise.reject(over()),
      state: (value, keptAs) => {
        this.#state = JSON.parse(JSON.stringify(value));
        return set(keptAs === undefined ? {} : { keptAs });
      },
      commands: (commands) => set({ commands: boundCommands(commands, limits) }),
      title: (title) => set({ title: boundTitle(title, limits) ?? this.#info.title }),
      configured: (options) => set({ config: { ...this.#info.config, options } }),
      usage: (usage) => set({ usage: boundUsage(usage, limits) ?? this.#info.usage }),
      elicited: () => DONE,
      beside: () => Promise.resolve(undefined),
    };
  }

  /** A context that leads to whoever hears the Engine at that moment. */
  #lead(): EngineContext {
    const own = this.#own;
    const tell = (act: (ground: EngineGround) => Promise<void>): Promise<void> => {
      if (this.#late === undefined) return act(this.#heir ?? own);
      this.#late.push(act);
      return DONE;
    };
    const ground = () => this.#heir ?? own;
    return {
      ...own,
      sessionId: this.#info.sessionId,
      config: () => ground().config(),
      history: (maxBytes) => ground().history(maxBytes),
      readArtifact: (...of) => ground().readArtifact(...of),
      state: (...of) => tell((to) => to.state(...of)),
      commands: (...of) => tell((to) => to.commands(...of)),
      title: (...of) => tell((to) => to.title(...of)),
      configured: (...of) => tell((to) => to.configured(...of)),
      usage: (...of) => tell((to) => to.usage(...of)),
      elicited: (...of) => tell((to) => to.elicited(...of)),
      beside: (work) => ground().beside(work),
    };
  }

  #set(change: Partial<SessionInfo>): void {
    this.#info = { ...this.#info, ...change };
  }
}

function over(): HostError {
  return new HostError("unavailable", "This is the past: nobody can be asked, and nothing can be read");
}
