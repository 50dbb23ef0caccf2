import type { SessionChange } from "../contract.ts";

/** What one watcher has not fetched yet: the newest change of each Session, so it is bounded by their number. */
class Feed {
  readonly #changes = new Map<string, SessionChange>();
  #wake: (() => void) | undefined;

  put(sessionId: string, change: SessionChange): void {
    this.#changes.delete(sessionId);
    this.#changes.set(sessionId, change);
    this.wake();
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  take(): SessionChange[] {
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    return changes;
  }

  async filled(): Promise<void> {
    if (this.#changes.size === 0) await new Promise<void>((resolve) => this.#wake = resolve);
  }
}

/** Everybody who watches lists. */
export class Watchers {
  readonly #feeds = new Set<Feed>();

  announce(change: SessionChange): void {
    const sessionId = change.type === "changed" ? change.info.sessionId : change.sessionId;
    for (const feed of this.#feeds) feed.put(sessionId, change);
  }

  /** Changes from now on, until the signal aborts. A slow watcher gets the newest of each Session. */
  watch(signal: AbortSignal): AsyncIterable<SessionChange> {
    const feed = new Feed();
    this.#feeds.add(feed);
    const stop = () => {
      this.#feeds.delete(feed);
      feed.wake();
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    return this.#changes(feed, signal, stop);
  }

  async *#changes(feed: Feed, signal: AbortSignal, stop: () => void): AsyncGenerator<SessionChange> {
    try {
      while (!signal.aborted) {
        yield* feed.take();
        if (!signal.aborted) await feed.filled();
      }
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  }
}
