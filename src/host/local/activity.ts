import type { LiveRun } from "../../model/run.ts";
import type { SessionInfo } from "../contract.ts";

/** A Session that a Host holds, as a status shows it. */
export interface SessionActivity {
  /** As lists show it. */
  readonly info: SessionInfo;
  /** How many connections use it. */
  readonly connections: number;
  /** Runs that have not ended. */
  readonly runs: readonly LiveRun[];
}
