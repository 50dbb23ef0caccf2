import type { ClientServices } from "../contract.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { HostError } from "../errors.ts";
import type { ActiveRun } from "./active_run.ts";
import type { Fanout } from "./fanout.ts";
import { encodedLength } from "./tool_fit.ts";

/** What a method needs the Client to offer, and whether it may still go out after a stop. */
const METHODS: ReadonlyMap<string, { readonly service: keyof ClientServices; readonly cleansUp: boolean }> =
  new Map([
    ["fs/read_text_file", { service: "readTextFile", cleansUp: false }],
    ["fs/write_text_file", { service: "writeTextFile", cleansUp: false }],
    ["terminal/create", { service: "terminal", cleansUp: false }],
    ["terminal/output", { service: "terminal", cleansUp: false }],
    ["terminal/wait_for_exit", { service: "terminal", cleansUp: false }],
    ["terminal/kill", { service: "terminal", cleansUp: true }],
    ["terminal/release", { service: "terminal", cleansUp: true }],
  ]);

/** A call that the presenter's editor has not answered yet. */
interface PendingCall {
  readonly run: ActiveRun;
  readonly connectionId: string;
  readonly cleansUp: boolean;
  readonly settle: (result: Json) => void;
  readonly refuse: (reason: unknown) => void;
  readonly detach: () => void;
}

/** Requests of Engines to the editors that present their Runs. In memory only: a call dies with its presenter. */
export class Calls {
  readonly #fanout: Fanout;
  readonly #services: (connectionId: string) => ClientServices | undefined;
  /** With a number behind it, the id of a call: so a settled one is known without a list of them. */
  readonly #prefix: string;
  readonly #pending = new Map<string, PendingCall>();
  #count = 0;

  constructor(
    options: {
      fanout: Fanout;
      prefix: string;
      services: (connectionId: string) => ClientServices | undefined;
    },
  ) {
    this.#fanout = options.fanout;
    this.#prefix = options.prefix;
    this.#services = options.services;
  }

  /** Sends a call to the Run's presenter and waits for its answer. */
  async call(run: ActiveRun, method: string, params: JsonObject, signal?: AbortSignal): Promise<Json> {
    const rule = METHODS.get(method);
    if (rule === undefined) throw new HostError("invalid", `The editor cannot be asked for "${method}"`);
    if (!run.taking && !(rule.cleansUp && run.state.kind === "stopping")) throw run.signal.reason;
    signal?.throwIfAborted();
    const connectionId = run.presenter;
    if (connectionId === undefined || this.#services(connectionId)?.[rule.service] !== true) {
      throw new HostError("unavailable", `No editor that shows this Turn offers "${method}"`);
    }
    const callId = `${this.#prefix}-${this.#count++}`;
    const answered = new Promise<Json>((settle, refuse) => {
      const abort = () => this.#cancel(callId, signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      const detach = () => signal?.removeEventListener("abort", abort);
      this.#pending.set(callId, { run, connectionId, cleansUp: rule.cleansUp, settle, refuse, detach });
    });
    const call = { callId, run: run.key, method, params };
    if (!this.#fanout.send(connectionId, { type: "call", call }, encodedLength(params))) {
      this.#refuse(callId, gone());
    }
    return await answered;
  }

  settle(connectionId: string, callId: string, result: Json): void {
    this.#take(connectionId, callId).settle(result);
  }

  fail(connectionId: string, callId: string, code: number, message: string): void {
    this.#take(connectionId, callId).refuse(new HostError("unavailable", message, { data: { code } }));
  }

  /** The Run was asked to stop: calls end, but for those that leave nothing behind at the editor. */
  stop(run: ActiveRun): void {
    for (const [callId, call] of this.#pending) {
      if (call.run === run && !call.cleansUp) this.#cancel(callId, run.signal.reason);
    }
  }

  /** The Run is over. */
  end(run: ActiveRun): void {
    for (const [callId, call] of this.#pending) if (call.run === run) this.#cancel(callId, run.signal.reason);
  }

  /** The presenter went away. */
  drop(connectionId: string): void {
    for (const [callId, call] of this.#pending) {
      if (call.connectionId === connectionId) this.#refuse(callId, gone());
    }
  }

  /** These calls were never handed out. */
  lost(callIds: readonly string[]): void {
    for (const callId of callIds) this.#refuse(callId, gone());
  }

  #take(connectionId: string, callId: string): PendingCall {
    const call = this.#pending.get(callId);
    if (call === undefined) {
      const [prefix, number] = [
        callId.slice(0, callId.lastIndexOf("-")),
        callId.slice(callId.lastIndexOf("-") + 1),
      ];
      const known = prefix === this.#prefix && /^\d+$/.test(number) && Number(number) < this.#count;
      throw known
        ? new HostError("already_resolved", "This call is over already")
        : new HostError("not_found", `There is no call "${callId}" in this Session`);
    }
    if (call.connectionId !== connectionId) {
      throw new HostError("unauthorized", "This call was made to another editor");
    }
    this.#forget(callId, call);
    return call;
  }

  /** Ends a call that the editor may be working on, and tells it. */
  #cancel(callId: string, reason: unknown): void {
    const call = this.#pending.get(callId);
    if (call === undefined) return;
    this.#refuse(callId, reason);
    this.#fanout.send(call.connectionId, { type: "call_cancelled", callId, run: call.run.key }, 0);
  }

  #refuse(callId: string, reason: unknown): void {
    const call = this.#pending.get(callId);
    if (call === undefined) return;
    this.#forget(callId, call);
    call.refuse(reason);
  }

  #forget(callId: string, call: PendingCall): void {
    this.#pending.delete(callId);
    call.detach();
  }
}

function gone(): HostError {
  return new HostError("unavailable", "The editor that showed this Turn is gone");
}
