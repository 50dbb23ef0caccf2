import type { ClientServices } from "../host/contract.ts";
import type { EngineContext, EngineSession, EngineSink } from "./contract.ts";
import type { TurnInput } from "../model/prompt.ts";

/** A Session that an Engine keeps by itself, as it tells of it. */
export interface KeptSession {
  /** What the Engine calls it; any text. */
  readonly keptAs: string;
  /** Its absolute working directory. */
  readonly cwd: string;
  /** Additional workspace roots, absolute. */
  readonly roots: readonly string[];
  /** What it is about. */
  readonly title?: string;
  /** When something last happened in it, in milliseconds since the epoch; absent where the Engine does not say. */
  readonly updatedAt?: number;
}

/** How an Engine is asked for its Sessions. */
export interface KeptRequest {
  /** Only those with this working directory, where the Engine can tell them apart: the Host looks again. */
  readonly cwd?: string;
  /** What the editor offers that asks, where that is known; an Engine that is started for it tells it on. */
  readonly client?: ClientServices;
}

/** One Turn of the past. */
export interface PastTurn {
  /** A name for it that no other Run of the Host has. */
  readonly runId: string;
  /** Takes what happened in it, as in a Turn that runs. Nobody can be asked or called any more. */
  readonly sink: EngineSink;
}

/** Where an Engine tells what happened in a Session before the Host had it: Turn by Turn, oldest first. */
export interface EnginePast {
  /** Begins the next Turn by what a person asked, where that is known. The Turn before it is over. */
  turn(input?: TurnInput): Promise<PastTurn>;
}

/**
 * The Sessions that an Engine keeps by itself, whether the Host has them or not. Each call may start what does the work, and rejects with
 * an error whose message is a sentence for people; a `HostError` says more.
 */
export interface EngineArchive {
  /** All that it can go on with, in any order, without those that were removed. Bounded by the Engine. */
  list(request: KeptRequest, signal: AbortSignal): Promise<readonly KeptSession[]>;
  /**
   * Goes on with one for the Host's Session of `context`: tells its past, then resolves with it, open. Where it rejects, nothing is left
   * open. `not_found` where there is none any more.
   */
  take(
    kept: KeptSession,
    context: EngineContext,
    past: EnginePast,
    request: KeptRequest,
    signal: AbortSignal,
  ): Promise<EngineSession>;
  /**
   * Nobody wants it any more: it is listed no more from now on, and deleted where the Engine can do that, at once or when it lists next. By
   * key. Starts nothing. Rejects where the Engine refuses; then it stays.
   */
  remove(keptAs: string, signal: AbortSignal): Promise<void>;
}
