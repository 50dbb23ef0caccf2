/** Time, so that tests can own it. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Leaves no timer behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves when everything else that is ready, I/O included, had a turn of the event loop. Cheap: microseconds. */
  turn(): Promise<void>;
}

/** Unique ids that match `[A-Za-z0-9_-]{1,64}`. */
export interface Ids {
  /** A new one. */
  next(): string;
}
