import type { JsonObject } from "../../src/model/json.ts";
import { type ClientAbilities, ClientGone, type ClientPort, ClientRefused } from "../../src/session/ports.ts";
import { type Reaction, reactionTo } from "./manners.ts";
import type { Random } from "./random.ts";
import type { Domain } from "./sim_clock.ts";
import type { Tape, Update } from "./tape.ts";

/** How an editor reads and answers. */
export interface ClientHabits {
  readonly abilities: ClientAbilities;
  /** Bytes above which the transport has no room. */
  readonly highWater: number;
  /** Probability that a write takes time, and milliseconds at most. */
  readonly slow: number;
  readonly slowMs: number;
  /** Probability that a request is answered wrongly, refused, or never answered. */
  readonly rude: number;
  readonly silent: number;
}

/** What a {@linkcode SimClient} is made of. */
export interface ClientParts {
  readonly by: string;
  readonly clock: Domain;
  readonly random: Random;
  readonly tape: Tape;
  readonly habits: ClientHabits;
}

interface Waiting {
  readonly method: string;
  readonly params: JsonObject;
  readonly react: (reaction: Reaction) => void;
}

/** The transport to an editor and the editor behind it: reads as fast as it likes, answers as it likes, or is gone. */
export class SimClient implements ClientPort {
  readonly abilities: ClientAbilities;
  /** Terminals that the editor made and was not told to release. */
  readonly terminals: Set<string> = new Set();
  /** Units that have left, of all that were ever sent. */
  left: number = 0;
  readonly #parts: ClientParts;
  readonly #requests = new Map<number, Waiting>();
  #state: "reads" | "stalls" | "gone" = "reads";
  #resumed = Promise.withResolvers<void>();
  #sent = 0;
  #queued = 0;
  #moving = 0;
  #calm = false;
  #room: PromiseWithResolvers<void> | undefined;
  #flushed: PromiseWithResolvers<void>[] = [];
  #terminals = 0;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.abilities = parts.habits.abilities;
  }

  /** Bytes that have not left. */
  get backlog(): number {
    return this.#queued + this.#moving;
  }

  /** Requests that wait for an answer. */
  get waiting(): string[] {
    return [...this.#requests.values()].map(({ method, params }) =>
      `${method} of ${String(params.sessionId)}`
    );
  }

  update(sessionId: string, encoded: string): void {
    if (this.#state === "gone") throw new ClientGone();
    const { tape, by } = this.#parts;
    const bytes = encoded.length;
    this.#send(bytes);
    const update = JSON.parse(encoded) as Update;
    tape.add({ kind: "update", by, sessionId, update, bytes, until: this.#sent });
  }

  room(): Promise<void> | undefined {
    if (this.#state === "gone") return refused();
    if (this.backlog < this.#parts.habits.highWater) return undefined;
    return (this.#room ??= waiting()).promise;
  }

  flushed(): Promise<void> {
    if (this.#state === "gone") return refused();
    if (this.backlog === 0) return Promise.resolve();
    const flushed = waiting();
    this.#flushed.push(flushed);
    return flushed.promise;
  }

  /** Nothing that a simulation does tells it anything but updates. */
  notify(): void {}

  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    const { tape, by } = this.#parts;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#state === "gone") return Promise.reject(new ClientGone());
    const id = tape.id();
    tape.add({ kind: "request", by, id, method, params });
    if (method === "terminal/release") this.terminals.delete(String(params.terminalId));
    this.#send(200);
    return new Promise((resolve, reject) => {
      const over = (end: "answered" | "refused" | "withdrawn" | "gone", meant: string) => {
        this.#requests.delete(id);
        signal.removeEventListener("abort", withdraw);
        tape.add({ kind: "request_over", by, id, end, meant });
      };
      const withdraw = () => {
        over("withdrawn", "");
        reject(signal.reason);
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#requests.set(id, {
        method,
        params,
        react: (reaction) => {
          if (!this.#requests.has(id)) return;
          if (reaction.kind === "gone") {
            over("gone", "");
            reject(new ClientGone());
          } else if (reaction.kind === "refuse") {
            over("refused", reaction.meant);
            reject(new ClientRefused(reaction.code, "The editor refuses"));
          } else {
            over("answered", reaction.meant);
            resolve(reaction.result);
          }
        },
      });
      void this.#consider(id, method, params);
    });
  }

  /** Stops reading. */
  stall(): void {
    if (this.#state !== "reads") return;
    this.#state = "stalls";
    this.#resumed = Promise.withResolvers();
    this.#parts.tape.add({ kind: "client", by: this.#parts.by, what: "stalls" });
  }

  /** Reads again. */
  resume(): void {
    if (this.#state !== "stalls") return;
    this.#state = "reads";
    this.#parts.tape.add({ kind: "client", by: this.#parts.by, what: "reads" });
    this.#resumed.resolve();
  }

  /** From now on it reads, and answers everything well, also what it left open. */
  calm(): void {
    this.#calm = true;
    this.resume();
    for (const [id, { method, params }] of this.#requests) void this.#consider(id, method, params);
  }

  /** Its end of the connection is closed. */
  leave(): void {
    if (this.#state === "gone") return;
    this.#resumed.resolve();
    this.#state = "gone";
    this.#parts.tape.add({ kind: "client", by: this.#parts.by, what: "gone" });
    this.#queued = this.#moving = 0;
    this.terminals.clear();
    for (const { react } of this.#requests.values()) react({ kind: "gone" });
    for (const one of [this.#room, ...this.#flushed]) one?.reject(new ClientGone());
    this.#room = undefined;
    this.#flushed = [];
  }

  async #consider(id: number, method: string, params: JsonObject): Promise<void> {
    const { random, clock, habits } = this.#parts;
    const calm = this.#calm;
    if (!calm && random.chance(habits.silent)) return;
    const reaction = reactionTo(
      method,
      params,
      calm ? 0 : habits.rude,
      random,
      () => `term${++this.#terminals}`,
    );
    await clock.sleep(calm ? random.between(0, 20) : random.pause());
    const request = this.#requests.get(id);
    const made = reaction.kind === "answer" ? reaction.made : undefined;
    if (request === undefined && made !== undefined) return;
    if (made !== undefined) this.terminals.add(made);
    request?.react(reaction);
  }

  #send(bytes: number): void {
    const idle = this.backlog === 0;
    this.#queued += bytes;
    this.#sent += bytes;
    if (!idle) return;
    const { tape, by } = this.#parts;
    tape.add({ kind: "client", by, what: "fills" });
    void this.#write();
  }

  /** Writes what is queued, one write after the other, as a pipe takes it. */
  async #write(): Promise<void> {
    const { clock, random, habits, tape, by } = this.#parts;
    while (this.#queued > 0) {
      const done = this.#flushed.splice(0);
      this.#moving = this.#queued;
      this.#queued = 0;
      await clock.sleep(!this.#calm && random.chance(habits.slow) ? random.between(0, habits.slowMs) : 0);
      if (this.#state === "stalls") await this.#resumed.promise;
      if (this.#state === "gone") return done.forEach((one) => one.reject(new ClientGone()));
      this.left += this.#moving;
      this.#moving = 0;
      for (const one of done) one.resolve();
      if (this.backlog < habits.highWater) {
        this.#room?.resolve();
        this.#room = undefined;
      }
    }
    tape.add({ kind: "client", by, what: "drained" });
    for (const one of this.#flushed.splice(0)) one.resolve();
  }
}

function refused(): Promise<void> {
  const promise = Promise.reject(new ClientGone());
  promise.catch(() => {});
  return promise;
}

function waiting(): PromiseWithResolvers<void> {
  const one = Promise.withResolvers<void>();
  one.promise.catch(() => {});
  return one;
}
