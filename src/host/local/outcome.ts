import type { EngineOutcome } from "../../engine/contract.ts";
import type { FailureClass, RunEnd, StopReason } from "../../model/run.ts";
import { HostError } from "../errors.ts";
import { cut } from "./bounds.ts";
import { encodedLength } from "./tool_fit.ts";

/** UTF-16 units of a failure's sentence. */
const SENTENCE = 2048;
/** UTF-16 units of what an Engine may add to an end. */
const EXTRA = 16 * 1024;

const STOP_REASONS: ReadonlySet<string> = new Set<StopReason>([
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
]);
const FAILURES: ReadonlySet<string> = new Set<FailureClass>([
  "engine",
  "engine_gone",
  "unsupported",
  "capacity",
  "storage",
  "authentication",
]);

/** How a Run ends for what its Engine returned, which may be anything. */
export function endOf(outcome: EngineOutcome): RunEnd {
  if (outcome?.kind === "completed" && STOP_REASONS.has(outcome.stopReason)) {
    const meta = encodedLength(outcome.meta) <= EXTRA ? outcome.meta : undefined;
    return { how: "completed", stopReason: outcome.stopReason, meta };
  }
  if (outcome?.kind === "failed" && typeof outcome.failure?.message === "string") {
    const { message, data } = outcome.failure;
    const kind = FAILURES.has(outcome.failure.class) ? outcome.failure.class : "engine";
    return failed(kind, message, encodedLength(data) <= EXTRA ? data : undefined);
  }
  return failed("engine", "The agent ended the Turn without saying how");
}

/** How a Run ends for what its Engine threw. */
export function endOfThrown(error: unknown): RunEnd {
  const said = error instanceof Error && error.message !== ""
    ? error.message
    : "The agent failed without saying why";
  const kind = error instanceof HostError && error.code === "persistence_failed" ? "storage" : "engine";
  return failed(kind, said);
}

/** An end by a failure, its sentence in bounds. */
export function failed(kind: FailureClass, message: string, data?: RunEndData): RunEnd {
  return { how: "failed", failure: { class: kind, message: cut(message, SENTENCE), data } };
}

type RunEndData = Extract<RunEnd, { how: "failed" }>["failure"]["data"];
