import type { Clock } from "./ports.ts";

/** The time that a caller gave to a piece of work is over. */
export class DeadlineError extends Error {
  /** Names what was waited for. */
  constructor(what: string, ms: number) {
    super(`No answer within ${ms} ms: ${what}`);
    this.name = "DeadlineError";
  }
}

/** The work's result, or the signal's reason as soon as it aborts. The work itself goes on; its late failure is nobody's. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * The work's result, or a {@linkcode DeadlineError} after `ms`, or the signal's reason as soon as it aborts. Leaves no timer behind.
 */
export function within<T>(
  clock: Clock,
  ms: number,
  what: string,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const timer = new AbortController();
  // With a reason of its own an abort makes no exception, which would cost more than all the rest.
  const over = () => timer.abort("over");
  const alarm = clock.sleep(ms, timer.signal).then(() => {
    throw new DeadlineError(what, ms);
  });
  const first = Promise.race([work, alarm]);
  const result = signal === undefined ? first : unlessAborted(first, signal);
  result.then(over, over);
  work.catch(() => {});
  return result;
}
