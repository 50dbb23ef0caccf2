import type { AgentCommand } from "./process.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { Conversation } from "./conversation.ts";
import { type Fault, FAULTS, Faults } from "./faults.ts";
import type { EngineContext, EngineOutcome, EngineSink, EngineTurn } from "../contract.ts";
import { failureOf } from "./failure.ts";
import type { Hello } from "./hello.ts";
import { Keeper } from "./keeper.ts";
import { Lobby } from "./lobby.ts";
import { silentLog } from "../../model/log.ts";
import { untilAborted } from "../waiting.ts";

/** How an agent is tried. */
export interface ProbeOptions {
  readonly command: AgentCommand;
  /** Absolute; the working directory of its Session. */
  readonly cwd: string;
  /** What it is asked. */
  readonly prompt: string;
  readonly version: string;
  /** Milliseconds for all of it. */
  readonly ms: number;
}

/** What came of it, in the order in which it happened; what was not reached is absent. */
export interface Probe {
  readonly hello?: Hello;
  /** Milliseconds from the start to the handshake, to the Session, to the answer. */
  readonly helloMs?: number;
  readonly openMs?: number;
  readonly answerMs?: number;
  readonly options: readonly string[];
  readonly outcome?: EngineOutcome;
  /** What it said. */
  readonly text: string;
  readonly tools: number;
  /** Why it went no further, as a sentence. */
  readonly failure?: string;
  /** Faults with how often they happened and what became of them. */
  readonly faults: readonly { readonly fault: Fault; readonly times: number; readonly what: string }[];
  /** The end of its stderr. */
  readonly lastWords: string;
}

const NO_SERVICES: ClientServices = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
};

/** Starts an agent, opens a Session, sends a prompt, allows nothing, and ends it. Never rejects. */
export async function probeAgent(options: ProbeOptions): Promise<Probe> {
  const faults = new Faults(silentLog);
  const keeper = new Keeper({ command: options.command, faults, log: silentLog, version: options.version });
  const lobby = new Lobby({ defaults: () => [], preferred: {}, began: () => {} });
  const since = performance.now();
  const elapsed = () => Math.round(performance.now() - since);
  const signal = AbortSignal.timeout(options.ms);
  const seen = { text: "", tools: 0 };
  let reached: Partial<Probe> = {};
  let conversation: Conversation | undefined;
  try {
    const ready = await untilAborted(keeper.ready(NO_SERVICES), signal);
    reached = { hello: ready.hello, helloMs: elapsed() };
    ({ conversation } = await untilAborted(lobby.open(ready, contextOf(options.cwd), undefined), signal));
    reached = { ...reached, openMs: elapsed() };
    const turn: EngineTurn = {
      turnId: "probe",
      runId: "probe",
      input: { parts: [{ kind: "text", text: options.prompt }] },
      services: () => NO_SERVICES,
    };
    const blocks = [{ type: "text", text: options.prompt }];
    const outcome = await conversation.prompt({ turn, sink: sinkOf(seen), signal, blocks });
    reached = { ...reached, outcome, answerMs: elapsed() };
  } catch (error) {
    const failure = signal.aborted
      ? `It did not answer for ${options.ms / 1000} seconds`
      : failureOf(error).message;
    reached = { ...reached, failure };
  } finally {
    await keeper.close();
  }
  return {
    ...reached,
    options: conversation?.settings.list().map(({ name, value }) => `${name}: ${value}`) ?? [],
    ...seen,
    faults: Object.entries(faults.report()).map(([fault, times]) => ({
      fault: fault as Fault,
      times,
      what: FAULTS[fault as Fault],
    })),
    lastWords: keeper.lastWords,
  };
}

function contextOf(cwd: string): EngineContext {
  const done = () => Promise.resolve();
  return {
    sessionId: "probe",
    cwd,
    roots: [],
    mcpServers: [],
    config: () => ({ revision: 1, options: [] }),
    readArtifact: () => Promise.reject(new Error("There are no Artifacts")),
    history: () => Promise.resolve([]),
    state: done,
    commands: done,
    usage: done,
    title: done,
    configured: done,
    elicited: done,
    // What comes behind the answer is counted, and shown to nobody.
    beside: (work) => {
      work(sinkOf({ text: "", tools: 0 }), new AbortController().signal).catch(() => {});
      return Promise.resolve("beside");
    },
  };
}

function sinkOf(seen: { text: string; tools: number }): EngineSink {
  const done = () => Promise.resolve();
  return {
    message: (_, channel, text) => {
      if (channel === "text") seen.text += text;
      return done();
    },
    content: done,
    messageComplete: done,
    messageReset: done,
    messageSuperseded: done,
    toolStart: () => {
      seen.tools++;
      return done();
    },
    toolInput: done,
    toolOutput: done,
    toolProgress: done,
    toolResult: done,
    plan: done,
    usage: done,
    notice: done,
    compaction: done,
    // Whoever only looks allows nothing.
    ask: () => Promise.resolve({ kind: "cancel" }),
    call: () => Promise.reject(new Error("There is no editor")),
    background: () => Promise.reject(new Error("There are no background Runs")),
  };
}
