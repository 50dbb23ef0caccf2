import type { EngineTurn } from "../../engine/contract.ts";
import type { Grant } from "../../model/question.ts";
import type { LiveRun, Origin, Run, RunEnd } from "../../model/run.ts";
import type { RunTranscript } from "./transcript.ts";

/**
 * A Run that has not ended. `stopping`: somebody asked for its end, which is what it will be recorded as; `ended`: what its Engine
 * still says is ignored.
 */
export type RunState =
  | { readonly kind: "admitted" | "running" | "ended" }
  | { readonly kind: "stopping"; readonly by: string };

/** What is fixed when a Run is admitted. */
export interface RunIdentity {
  readonly key: Run;
  readonly foreground: boolean;
  readonly origin: Origin;
  readonly cut: number;
  readonly presenter: string | undefined;
  readonly transcript: RunTranscript;
  /** How it ends where the Host goes away: interrupted where absent. */
  readonly leftAs?: RunEnd;
}

/** One live Run of a Session, in memory. */
export class ActiveRun {
  readonly key: Run;
  readonly foreground: boolean;
  readonly origin: Origin;
  readonly cut: number;
  readonly transcript: RunTranscript;
  readonly leftAs: RunEnd;
  /** Permissions that die with the Turn. */
  readonly grants: Grant[] = [];
  /** Words that were given while it worked, by their key. */
  readonly steers: Map<string, Promise<void>> = new Map();
  /** The connection that shows it. */
  presenter: string | undefined;
  /** Interactions that are open. */
  questions = 0;
  #state: RunState = { kind: "admitted" };
  readonly #stop = new AbortController();
  readonly #over = new AbortController();

  constructor(identity: RunIdentity) {
    this.key = identity.key;
    this.foreground = identity.foreground;
    this.origin = identity.origin;
    this.cut = identity.cut;
    this.presenter = identity.presenter;
    this.transcript = identity.transcript;
    this.leftAs = identity.leftAs ?? { how: "interrupted" };
  }

  get state(): RunState {
    return this.#state;
  }

  /** Whether what the Engine says counts. */
  get taking(): boolean {
    return this.#state.kind === "running" || this.#state.kind === "admitted";
  }

  /** Aborts when the Run is to stop, and at its end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts at the end, whatever it is. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** The Engine has it. */
  begin(): void {
    if (this.#state.kind === "admitted") this.#state = { kind: "running" };
  }

  /** Fences the Run and tells the Engine. */
  stop(by: string): void {
    if (!this.taking) return;
    this.#state = { kind: "stopping", by };
    this.#stop.abort(STOPPED);
  }

  /** Closes it for good. */
  end(): void {
    this.#state = { kind: "ended" };
    this.#stop.abort(STOPPED);
    this.#over.abort(STOPPED);
  }

  /** As snapshots and frames show it. */
  live(): LiveRun {
    const { key: run, foreground, origin, presenter, cut } = this;
    const phase = this.#state.kind === "admitted" ? "admitted" : this.questions > 0 ? "waiting" : "running";
    return { run, phase, foreground, origin, presenter, cut };
  }

  /** The part of an Engine's view that names the Turn. */
  names(): Pick<EngineTurn, "turnId" | "runId"> {
    return { turnId: this.key.turnId, runId: this.key.runId };
  }
}

/** Why an Engine's waits end when its Run is stopped. */
const STOPPED = new DOMException("The Turn was stopped", "AbortError");
