import { setImmediate } from "node:timers";
import { setTimeout } from "node:timers/promises";

/** Waits `ms`, or rejects as soon as the signal aborts. Leaves no timer behind. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Lets everything else that is ready have its turn; an endless chain of promises would keep a stop from being read. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Settles as the promise does, or rejects with the signal's reason when that comes first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Waits until the promise settled either way, but never longer than `ms`. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const settled = promise.then(() => {}, () => {});
  await Promise.race([settled, pause(ms, timer.signal).catch(() => {})]);
  timer.abort();
}
