import { type Address, call, HostSilent, type Reached, statusOf, WishRefused } from "./caller.ts";
import { HostError } from "../../host/errors.ts";
import { type HostStatus, isIdle } from "./status.ts";
import type { StartEnd, Starting } from "./start.ts";
import { systemClock } from "../../system.ts";

/** What {@linkcode HostReach} needs. */
export interface HostReachOptions {
  /** The state folder. */
  readonly folder: string;
  /** Starts a Host. Throws where that cannot be. */
  readonly start: () => Starting;
  readonly version: string;
  /** Tells the person something, once each. */
  readonly tell: (sentence: string) => void;
}

/** Milliseconds for a Host to begin to serve. */
const START_MS = 20_000;
/** Milliseconds between two tries, at first and at most. */
const LOOK_MS = 15;
const LOOK_MOST_MS = 120;
/** Hosts that may fail to start. The first one may have found another that was just leaving. */
const FAILURES = 2;

/** What a look for a Host came to: `silent` is one that is there and does not answer. */
type Found = Reached | "nobody" | "silent";

/**
 * Reaches the Host of a state folder, whoever started it; starts one where none runs; replaces one of an older version that nobody
 * needs at the moment.
 */
export class HostReach {
  readonly #options: HostReachOptions;
  readonly #address: Address;
  #told: "nothing" | "replaced" = "nothing";

  constructor(options: HostReachOptions) {
    this.#options = options;
    this.#address = { kind: "state", folder: options.folder };
  }

  /** Calls for the wire. Rejects with a sentence where no Host can be had in time. */
  async dial(signal: AbortSignal): Promise<Reached> {
    let starting: Starting | undefined;
    let ended: StartEnd | undefined;
    let failures = 0;
    const deadline = systemClock.now() + START_MS;
    try {
      for (let wait = LOOK_MS;; wait = Math.min(wait * 1.5, LOOK_MOST_MS)) {
        signal.throwIfAborted();
        // One that ended while we look may have found another, which this look was too early for.
        const before = ended;
        const found = await this.#look(signal);
        if (typeof found === "object") return found;
        if (before !== undefined) {
          // One that had served and left again is no failure.
          if (before.code !== 0 && ++failures === FAILURES) throw notStarted(before.said);
          starting = ended = undefined;
        }
        if (systemClock.now() > deadline) throw found === "silent" ? new HostSilent() : notStarted(undefined);
        if (found === "nobody" && starting === undefined) {
          starting = this.#options.start();
          starting.ended.then((end) => ended = end);
        }
        await systemClock.sleep(wait, signal);
      }
    } finally {
      starting?.release();
    }
  }

  async #look(signal: AbortSignal): Promise<Found> {
    try {
      const status = await statusOf(this.#address, signal);
      if (status === undefined || await this.#replaced(status, signal)) return "nobody";
      return await call(this.#address, { want: "host" }, signal) ?? "nobody";
    } catch (error) {
      if (error instanceof WishRefused && error.reason === "stopping") return "nobody";
      if (error instanceof HostSilent) return "silent";
      throw error;
    }
  }

  /** Whether this Host was an old one and has made room. */
  async #replaced(status: HostStatus, signal: AbortSignal): Promise<boolean> {
    const { version, tell } = this.#options;
    if (!isOlder(status.version, version) || !isIdle(status)) return false;
    try {
      const stopped = await call(this.#address, { want: "stop", when: "idle" }, signal);
      if (stopped === undefined) return true;
      await stopped.stream.readable.pipeTo(new WritableStream(), { signal }).catch(() => {});
      stopped.stream.close();
      signal.throwIfAborted();
    } catch (error) {
      if (error instanceof WishRefused && error.reason === "busy") return false;
      throw error;
    }
    if (this.#told === "nothing") {
      this.#told = "replaced";
      tell(`The Host of version ${status.version} had nothing to do and is replaced by version ${version}`);
    }
    return true;
  }
}

/** Whether a version comes before another one. What is no version comes before none. */
export function isOlder(version: string, than: string): boolean {
  const a = numbersOf(version);
  const b = numbersOf(than);
  for (const [at, number] of a.entries()) {
    const other = b[at] ?? 0;
    if (number !== other) return number < other;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  return /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
}

function notStarted(said: string | undefined): HostError {
  const why = said === undefined
    ? `it did not serve within ${START_MS / 1000} seconds`
    : said === ""
    ? "it ended without a word"
    : said;
  return new HostError("unavailable", `A Host in a process of its own could not be started: ${why}`, {
    dispatch: "not_sent",
  });
}
