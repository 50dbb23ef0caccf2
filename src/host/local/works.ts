import type { Clock, Ids } from "../../model/clock.ts";
import type { Engine } from "../../engine/contract.ts";
import type { Log } from "../../model/log.ts";
import type { Limits } from "../../limits.ts";
import type { ClientServices, SessionInfo } from "../contract.ts";
import type { SessionState, SessionStore } from "../store/contract.ts";
import { Calls } from "./calls.ts";
import { Fanout } from "./fanout.ts";
import { Grants } from "./grants.ts";
import { type Binding, engineGround } from "./ground.ts";
import { historyOf } from "./history.ts";
import { Journal } from "./journal.ts";
import type { OperationGives, OperationName, OperationOf } from "./operations.ts";
import type { Pace } from "./pace.ts";
import { Patience } from "./patience.ts";
import { Questions } from "./questions.ts";
import { TranscriptReader } from "./reader.ts";
import type { Inherited } from "./takeover.ts";
import { Settings } from "./settings.ts";
import { Supervisor } from "./supervisor.ts";
import { Turns } from "./turns.ts";
import { Uploads } from "./uploads.ts";

/** What all Sessions of a Host share. */
export interface HostParts {
  readonly storeId: string;
  readonly hostEpoch: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: Limits;
  readonly pace: Pace;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
  /** Tells those who watch lists. */
  readonly announce: (info: SessionInfo) => void;
}

/** What the parts of one Session are made from, with the mailbox that they report to. */
export interface WorksOptions extends HostParts {
  readonly store: SessionStore;
  readonly state: SessionState;
  readonly engine: Engine | undefined;
  /** What the Engine has open already. */
  readonly inherited?: Inherited;
  /** What the Client of a connection offers, where that uses the Session. */
  readonly services: (connectionId: string) => ClientServices | undefined;
  readonly binding: () => Binding;
  /** Puts an operation into the mailbox and waits for it. */
  readonly ask: <N extends OperationName>(name: N, of: OperationOf<N>) => Promise<OperationGives<N>>;
  /** Puts an operation into the mailbox; nobody waits for it. */
  readonly report: <N extends OperationName>(name: N, of: OperationOf<N>) => void;
}

/** The parts of one Session. */
export interface SessionWorks {
  readonly fanout: Fanout;
  readonly journal: Journal;
  readonly settings: Settings;
  readonly reader: TranscriptReader;
  readonly grants: Grants;
  readonly questions: Questions;
  readonly calls: Calls;
  readonly uploads: Uploads;
  readonly supervisor: Supervisor;
  readonly turns: Turns;
}

/** Makes the parts of a Session and ties them together. */
export function worksOf(options: WorksOptions): SessionWorks {
  const { store, state, clock, limits, ids, log, date, services, ask, report } = options;
  const fanout = new Fanout();
  const journal: Journal = new Journal({
    store,
    clock,
    limits,
    last: state.last,
    watermark: state.watermark,
    info: () => settings.info,
    events: {
      advanced: (watermark, last) => fanout.publish({ type: "transcript", watermark, last }, 0),
      failed: (error) => {
        log.error("Saving failed", { sessionId: store.sessionId, error: error.message });
        report("unsaved", { error });
      },
    },
  });
  const settings = new Settings(state.info, { ...options, journal, fanout });
  const reader = new TranscriptReader(store, journal);
  const grants = new Grants(state.grants, { journal, ids, date });
  const questions: Questions = new Questions({
    ...options,
    journal,
    fanout,
    grants,
    counted: (run) => turns.announce(run),
  });
  const calls = new Calls({ fanout, prefix: ids.next(), services });
  const uploads = new Uploads({ files: store.artifacts, journal, ids, limits });
  const ground = engineGround({
    settings,
    uploads,
    limits,
    restored: state.engineState,
    binding: options.binding,
    history: (maxBytes) =>
      historyOf({ store, last: () => journal.last, live: (turnId) => turns.has(turnId) }, maxBytes),
    configured: (wanted, metas) => ask("engineOptions", { options: wanted, metas }),
    elicited: (elicitationId) => fanout.publish({ type: "elicited", elicitationId }, elicitationId.length),
    beside: (work) => ask("runLate", { work }),
  });
  const supervisor = new Supervisor({
    engine: options.engine,
    sessionId: store.sessionId,
    ground,
    inherited: options.inherited,
    clock,
    log,
    closeMs: limits.drainMs,
  });
  const turns: Turns = new Turns({
    ...options,
    journal,
    fanout,
    settings,
    uploads,
    questions,
    calls,
    supervisor,
    stored: (seq, offset, length) => store.body(seq, offset, length),
    sink: {
      journal,
      pace: options.pace,
      patience: new Patience(fanout, clock, limits.patienceMs),
      log,
      usage: (usage) => settings.usage(usage),
      ask: (run, question, signal) => questions.ask(run, question, signal),
      call: (run, method, params, signal) => calls.call(run, method, params, signal),
      background: (parent, work) => ask("runBeside", { parent, work }),
    },
    events: {
      settled: (run, end) => report("runSettled", { run, end }),
      overdue: (run) => report("runOverdue", { run }),
    },
  });
  return { fanout, journal, settings, reader, grants, questions, calls, uploads, supervisor, turns };
}
