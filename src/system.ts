import { setImmediate } from "node:timers";
import type { Clock, Ids } from "./model/clock.ts";

/** The machine's own time. */
export const systemClock: Clock = {
  now: (): number => performance.now(),
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", abort, { once: true });
    });
  },
  // setTimeout(0) takes two milliseconds in Deno, an immediate some microseconds.
  turn: (): Promise<void> => new Promise((resolve) => setImmediate(resolve)),
};

/** Random UUIDs. */
export const randomIds: Ids = { next: (): string => crypto.randomUUID() };
