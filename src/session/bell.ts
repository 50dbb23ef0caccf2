/** Wakes everyone who waits, each time it rings. Waiters look at the state again; nothing is handed over. */
export class Bell {
  #waiters = new Set<() => void>();

  /** Wakes all who wait now. */
  ring(): void {
    const waiters = this.#waiters;
    if (waiters.size === 0) return;
    this.#waiters = new Set();
    for (const wake of waiters) wake();
  }

  /** Resolves at the next ring; rejects with the signal's reason when it aborts first. */
  heard(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiters.delete(wake);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      this.#waiters.add(wake);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Waits until `ready` gives a value, looking again at each ring. */
  async until<T>(ready: () => T | undefined, signal?: AbortSignal): Promise<T> {
    for (;;) {
      const value = ready();
      if (value !== undefined) return value;
      await this.heard(signal);
    }
  }
}
