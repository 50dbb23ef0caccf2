import type { Clock } from "../../model/clock.ts";
import type { Json } from "../../model/json.ts";
import { HostError } from "../errors.ts";
import type { WireLimits } from "./limits.ts";
import { fits, type Link, type Outgoing, ProtocolError } from "./link.ts";
import {
  ONCE,
  type OperationGives,
  type OperationName,
  type OperationOf,
  OPERATIONS,
  PATIENT,
} from "./operations.ts";
import { hostErrorOf, type HostMessage, type ToldLimits } from "./protocol.ts";
import { faultOf } from "./shape.ts";

/** What may be said of a request. */
export interface AskOptions {
  /** The stream that it is about: it fails with it. */
  readonly stream?: number;
  /** Whether it leaves before all that waits. */
  readonly first?: boolean;
  /** Aborts when the answer is not wanted any more. Once it has left, such a request has no deadline. */
  readonly signal?: AbortSignal;
}

/** Milliseconds between two looks at what waits for too long. */
const TICK_MS = 1000;

interface Request {
  readonly id: number;
  readonly op: OperationName;
  readonly line: string;
  readonly stream: number | undefined;
  /** The Session that it names. */
  readonly sessionId: string | undefined;
  /** When it fails without an answer. */
  until: number;
  /** Milliseconds for an answer, and when they are over: since its first leaving. */
  readonly patience: number;
  deadline: number;
  /** Whether its bytes have ever been given to a stream: from then on its outcome is unknown. */
  dispatch: "not_sent" | "unknown";
  /** Its line on the present link. */
  outgoing: Outgoing | undefined;
  readonly settle: (value: Json) => void;
  readonly fail: (error: HostError) => void;
}

/** The reply to a request. */
type ReplyMessage = Extract<HostMessage, { type: "reply" }>;

/**
 * The requests of a client that have no answer yet. They leave in their order, as many at a time as the Host takes. When the stream is
 * lost, operations by key are sent again on the next one; a once operation that has left fails as `unknown`, and one that has not
 * waits. Every request is settled: within `unsentMs` where it cannot leave, within `requestMs` or `agentMs` of its leaving where no answer comes.
 */
export class Requests {
  readonly #clock: Clock;
  readonly #limits: WireLimits;
  /** In the order of their ids. */
  readonly #pending = new Map<number, Request>();
  /** Those that are not on the present link. */
  #waiting: Request[] = [];
  #link: Link | undefined;
  #told: ToldLimits | undefined;
  #ids = 0;
  #out = 0;
  #watching: "no" | "yes" = "no";
  readonly #closing = new AbortController();
  /** Why the Host cannot be reached, as far as is known. */
  #obstacle = "The Host cannot be reached";

  /** None yet. */
  constructor(clock: Clock, limits: WireLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** How many there are. */
  get size(): number {
    return this.#pending.size;
  }

  /** Whether any of them names the Session. */
  concern(sessionId: string): boolean {
    for (const request of this.#pending.values()) if (request.sessionId === sessionId) return true;
    return false;
  }

  /** Sends a request when it can, and waits for its answer. Rejects with {@linkcode HostError}. */
  ask<N extends OperationName>(
    op: N,
    of: OperationOf<N>,
    options: AskOptions = {},
  ): Promise<OperationGives<N>> {
    if (this.#closing.signal.aborted) return Promise.reject(closed());
    const { signal, stream } = options;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const id = ++this.#ids;
    const line = JSON.stringify({ type: "ask", id, op, of });
    const most = this.#told?.lineBytes ?? this.#limits.lineBytes;
    if (!fits(line, most)) {
      const sentence = `The request is too large: the Host takes ${most} bytes`;
      return Promise.reject(
        new HostError("capacity", sentence, { dispatch: "not_sent", data: { limit: most } }),
      );
    }
    return new Promise((resolve, reject) => {
      const abort = () => this.#drop(request, signal?.reason);
      const over = () => signal?.removeEventListener("abort", abort);
      const request: Request = {
        id,
        op,
        line,
        stream,
        sessionId: "sessionId" in of ? of.sessionId : undefined,
        until: this.#clock.now() + this.#limits.unsentMs,
        patience: signal !== undefined
          ? Infinity
          : PATIENT.has(op)
          ? this.#limits.agentMs
          : this.#limits.requestMs,
        deadline: Infinity,
        dispatch: "not_sent",
        outgoing: undefined,
        settle: (value) => {
          over();
          const parsed = OPERATIONS[op].gives.safeParse(value);
          if (parsed.success) return resolve(parsed.data);
          const fault = faultOf(OPERATIONS[op].gives, value);
          reject(
            new HostError("internal", `The Host's answer to "${op}" is malformed: ${fault}`, {
              dispatch: "unknown",
            }),
          );
        },
        fail: (error) => {
          over();
          reject(error);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#pending.set(id, request);
      if (options.first === true) this.#waiting.unshift(request);
      else this.#waiting.push(request);
      this.#flush();
      if (this.#watching === "no") this.#watch();
    });
  }

  /** The Host can be reached on this link: what waits leaves. */
  attach(link: Link, told: ToldLimits): void {
    this.#link = link;
    this.#told = told;
    this.#flush();
  }

  /** The link is lost. */
  detach(reason: string): void {
    this.#link = undefined;
    this.#obstacle = `The connection to the Host was lost: ${reason}`;
    this.#out = 0;
    this.#waiting = [];
    for (const request of this.#pending.values()) {
      request.outgoing = undefined;
      // Whoever waits for an agent need not wait as long for a Host that is gone.
      request.until = Math.min(request.until, this.#clock.now() + this.#limits.requestMs);
      if (request.dispatch === "unknown" && ONCE.has(request.op)) this.#fail(request, this.#lost(request));
      else this.#waiting.push(request);
    }
  }

  /** Dialing failed. */
  hinder(reason: string): void {
    this.#obstacle = reason;
  }

  /** Fails everything that waits. */
  refuse(error: HostError): void {
    for (const request of [...this.#pending.values()]) {
      this.#fail(request, request.dispatch === "unknown" ? this.#lost(request) : error);
    }
  }

  /** A stream is over: what is asked about it will not be answered. */
  end(stream: number): void {
    for (const request of [...this.#pending.values()]) {
      if (request.stream !== stream) continue;
      this.#fail(request, new HostError("unavailable", "This Subscription has ended, open another one"));
    }
  }

  /** Takes a reply. One that nobody waits for is left alone. Throws {@linkcode ProtocolError}. */
  reply(message: ReplyMessage): void {
    const request = this.#pending.get(message.id);
    if (request === undefined) return;
    if (request.dispatch === "not_sent") {
      throw new ProtocolError(`request ${message.id} was answered before it was sent`);
    }
    this.#forget(request);
    if ("error" in message) request.fail(hostErrorOf(message.error));
    else request.settle(message.value ?? null);
    this.#flush();
  }

  /** Ends everything; nothing can be asked any more. */
  close(): void {
    this.#closing.abort();
    for (const request of [...this.#pending.values()]) {
      this.#fail(request, request.dispatch === "unknown" ? this.#lost(request) : closed());
    }
  }

  #flush(): void {
    const link = this.#link;
    if (link === undefined || this.#waiting.length === 0) return;
    const most = this.#told?.requests ?? 1;
    let count = 0;
    while (count < this.#waiting.length && this.#out < most) {
      const request = this.#waiting[count++]!;
      if (!this.#pending.has(request.id)) continue;
      this.#out++;
      request.outgoing = link.send(request.line, () => this.#leaving(request));
    }
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count);
  }

  #leaving(request: Request): void {
    if (request.dispatch === "not_sent") request.deadline = this.#clock.now() + request.patience;
    request.until = request.deadline;
    request.dispatch = "unknown";
  }

  /** Nobody waits for its answer any more. */
  #drop(request: Request, reason: unknown): void {
    if (!this.#pending.has(request.id)) return;
    const { outgoing } = request;
    const withdrawn = outgoing !== undefined && this.#link?.withdraw(outgoing) === true;
    if (outgoing !== undefined && !withdrawn) {
      this.#link?.send(JSON.stringify({ type: "drop", id: request.id }));
    }
    this.#forget(request);
    this.#flush();
    request.fail(reason as HostError);
  }

  #fail(request: Request, error: HostError): void {
    this.#forget(request);
    request.fail(error);
  }

  #forget(request: Request): void {
    if (!this.#pending.delete(request.id)) return;
    if (request.outgoing !== undefined) this.#out--;
  }

  #lost({ dispatch, op }: Request): HostError {
    return new HostError("unavailable", `${this.#obstacle} ("${op}")`, { dispatch });
  }

  /** Fails what has waited for too long. It looks once a second, and ends when nothing is pending. */
  async #watch(): Promise<void> {
    this.#watching = "yes";
    while (this.#pending.size > 0) {
      try {
        await this.#clock.sleep(TICK_MS, this.#closing.signal);
      } catch {
        break;
      }
      const now = this.#clock.now();
      for (const request of [...this.#pending.values()]) if (request.until <= now) this.#overdue(request);
    }
    this.#watching = "no";
  }

  #overdue(request: Request): void {
    const out = request.outgoing !== undefined && this.#link?.withdraw(request.outgoing) !== true;
    const error = out
      ? new HostError("unavailable", `The Host did not answer "${request.op}" in time`, {
        dispatch: "unknown",
      })
      : this.#lost(request);
    this.#drop(request, error);
  }
}

function closed(): HostError {
  return new HostError("unavailable", "This connection to the Host is closed", { dispatch: "not_sent" });
}
