import type { Clock } from "../../model/clock.ts";
import type { Line } from "../../wire/lines.ts";
import type { Log } from "../../model/log.ts";
import { HostError } from "../errors.ts";
import type { WireLimits } from "./limits.ts";
import { Link, ProtocolError } from "./link.ts";
import { type Hello, rangeText, readAnswer, type Refusal, VERSIONS, type Welcome } from "./protocol.ts";
import type { WireStream } from "./stream.ts";

/** What a {@linkcode Tether} tells its owner, one thing at a time. */
export interface TetherEvents {
  /** The greeting of the next attempt. */
  readonly hello: (attempt: number) => Hello;
  /** Whether a link is needed; without need none is made. */
  readonly needed: () => boolean;
  /** The Host can be reached. */
  readonly linked: (link: Link, welcome: Welcome) => void;
  /** A line of the Host. A throw cuts the link. */
  readonly line: (line: Line) => void;
  /** The link is lost. */
  readonly unlinked: (reason: string) => void;
  /** An attempt failed. */
  readonly failed: (error: HostError) => void;
  /** There was no link for so long that the Host has given up too, or it refuses for good. */
  readonly lost: (error: HostError) => void;
}

/** What a {@linkcode Tether} works with. */
export interface TetherOptions {
  readonly dial: (signal: AbortSignal) => Promise<WireStream>;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: WireLimits;
  readonly random: () => number;
}

/** Refusals that another attempt may not meet. */
const PASSING: ReadonlySet<string> = new Set(["stale", "draining", "capacity"]);

/** A link that was welcomed. */
interface Linked {
  /** Resolves with the reason when it is over. */
  readonly over: Promise<string>;
}

/** The Host has refused for good. */
class RefusedForGood extends HostError {}

/**
 * Keeps a client linked to its Host: dials, greets, and dials again after a loss, at once where the link had lasted and else after a time
 * that grows. States: idle, at work (dialing or linked), closed.
 */
export class Tether {
  readonly #options: TetherOptions;
  readonly #events: TetherEvents;
  readonly #over = new AbortController();
  #state: "idle" | "working" | "closed" = "idle";
  #link: Link | undefined;
  #attempt = 0;
  #unlinkedSince: number;
  #work: Promise<void> = Promise.resolve();

  /** Dials nothing yet. */
  constructor(options: TetherOptions, events: TetherEvents) {
    this.#options = options;
    this.#events = events;
    this.#unlinkedSince = options.clock.now();
  }

  /** Makes one attempt. Rejects with {@linkcode HostError}. */
  async begin(): Promise<void> {
    this.#state = "working";
    try {
      const linked = await this.#reach();
      this.#keep(linked);
    } catch (error) {
      this.#state = "idle";
      throw error;
    }
  }

  /** A link is needed. */
  want(): void {
    if (this.#state === "idle") this.#keep(undefined);
  }

  /** Ends everything at once. */
  async close(reason: string): Promise<void> {
    this.#state = "closed";
    this.#over.abort(new Error(reason));
    this.#link?.cut(reason);
    await this.#work;
  }

  #keep(linked: Linked | undefined): void {
    this.#state = "working";
    this.#work = this.#run(linked).catch((error) => {
      if (this.#state === "closed") return;
      this.#state = "idle";
      this.#options.log.error("the connection to the Host failed", { reason: String(error) });
    });
  }

  /** Follows one link after the other while there is need. */
  async #run(first: Linked | undefined): Promise<void> {
    const { clock, limits, log } = this.#options;
    let linked = first;
    for (let failures = 0; this.#state === "working";) {
      if (linked === undefined) {
        if (!this.#events.needed()) {
          this.#state = "idle";
          return;
        }
        await this.#pause(failures);
        try {
          linked = await this.#reach();
        } catch (error) {
          if (this.#over.signal.aborted) return;
          failures++;
          this.#missed(error as HostError);
          continue;
        }
      }
      const since = clock.now();
      const reason = await linked.over;
      linked = undefined;
      this.#link = undefined;
      this.#unlinkedSince = clock.now();
      if (this.#over.signal.aborted) return;
      log.info("the connection to the Host was lost", { reason });
      this.#events.unlinked(reason);
      failures = clock.now() - since >= limits.steadyMs ? 0 : failures + 1;
    }
  }

  #missed(error: HostError): void {
    const { clock, limits, log } = this.#options;
    log.debug("the Host was not reached", { reason: error.message });
    this.#events.failed(error);
    if (error instanceof RefusedForGood || clock.now() - this.#unlinkedSince >= limits.graceMs) {
      this.#events.lost(error);
    }
  }

  /** Waits before the next attempt: not at all before the first, then ever longer. */
  async #pause(failures: number): Promise<void> {
    if (failures === 0) return;
    const { clock, limits, random } = this.#options;
    const ms = Math.min(limits.backoffMs * 2 ** (failures - 1), limits.backoffMostMs);
    await clock.sleep(ms * (0.5 + random() / 2), this.#over.signal);
  }

  /** Dials and greets. What it resolves with resolves when the link is over. */
  async #reach(): Promise<Linked> {
    const { dial, clock, limits } = this.#options;
    const late = new AbortController();
    const alarm = clock.sleep(limits.dialMs, AbortSignal.any([late.signal, this.#over.signal]));
    const tooLate = alarm.then(() => {
      throw new HostError("unavailable", "The Host does not answer", { dispatch: "not_sent" });
    });
    tooLate.catch(() => {});
    const giveUp = new AbortController();
    let link: Link | undefined;
    try {
      const dialing = dial(AbortSignal.any([giveUp.signal, this.#over.signal]));
      dialing.then((stream) => giveUp.signal.aborted && stream.close(), () => {});
      const stream = await Promise.race([dialing, tooLate]);
      link = new Link(stream, clock, limits);
      return await Promise.race([this.#greet(link), tooLate]);
    } catch (error) {
      if (link === undefined) giveUp.abort();
      link?.cut("it was given up");
      if (link !== undefined && this.#link === link) {
        this.#link = undefined;
        this.#events.unlinked("it was given up");
      }
      if (error instanceof HostError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new HostError("unavailable", `The Host cannot be reached: ${reason}`, {
        dispatch: "not_sent",
        cause: error,
      });
    } finally {
      late.abort();
    }
  }

  async #greet(link: Link): Promise<Linked> {
    const answered = Promise.withResolvers<void>();
    let state: "greeting" | "welcome" = "greeting";
    link.greet();
    link.send(JSON.stringify(this.#events.hello(++this.#attempt)));
    const over = link.read((line) => {
      if (state === "welcome") return this.#events.line(line);
      if (line.kind === "oversize") throw new ProtocolError("its welcome is too long");
      const answer = readAnswer(line.text);
      if (answer.type === "refused") return answered.reject(refused(answer));
      if (answer.version < VERSIONS.from || answer.version > VERSIONS.to) {
        throw new ProtocolError(`it chose version ${answer.version}, which this side does not speak`);
      }
      state = "welcome";
      this.#link = link;
      this.#events.linked(link, answer);
      answered.resolve();
    });
    over.then((reason) =>
      answered.reject(
        new HostError("unavailable", `The Host ended the connection: ${reason}`, { dispatch: "not_sent" }),
      )
    );
    await answered.promise;
    return { over };
  }
}

function refused({ reason, message, versions }: Refusal): HostError {
  const sentence = reason === "version"
    ? `${message} (this program speaks ${rangeText(VERSIONS)}, the Host ${rangeText(versions)})`
    : message;
  const options = { dispatch: "not_sent", data: { reason, versions: { ...versions } } } as const;
  return PASSING.has(reason)
    ? new HostError("unavailable", sentence, options)
    : new RefusedForGood(reason === "unauthorized" ? "unauthorized" : "unavailable", sentence, options);
}
