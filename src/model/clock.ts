/** Time, so that tests can own it. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Leaves no timer behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Unique ids that match `[A-Za-z0-9_-]{1,64}`. */
export interface Ids {
  next(): string;
}
