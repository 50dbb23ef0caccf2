import type { RuntimeHost } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import type { ClientCall } from "../model/frame.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { LIMITS } from "../limits.ts";
import { type ClientPort, ClientRefused, type Clock, type Log } from "./ports.ts";

/** The one error code of ours that a call can fail with: the Client has no such method. */
const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;

/** Whether a method frees a terminal: such a call is served behind a fence too. */
export function isFreeing(method: string): boolean {
  return method === "terminal/kill" || method === "terminal/release";
}

/** The Host needs no answer any more: it has one, or the call is over. */
const TOLD: ReadonlySet<string> = new Set(["already_resolved", "not_found"]);

interface OpenCall {
  readonly turnId: string;
  readonly method: string;
  readonly cancel: AbortController;
}

/**
 * An Engine's requests to the editor: `fs/*` and `terminal/*`. Each call is settled or failed once; every terminal that was
 * created here is released when its Run is over, also when the Engine could not.
 */
export class EditorCalls {
  #host: RuntimeHost;
  #client: ClientPort;
  #sessionId: string;
  #clock: Clock;
  #log: Log;
  #open = new Map<string, OpenCall>();
  /** Terminals that live, by Turn. */
  #terminals = new Map<string, Set<string>>();
  /** Turns that ended while a call of theirs was out. */
  #over = new Set<string>();
  /** Aborts when nothing is served any more. */
  #closing = new AbortController();

  /** Serves the calls of one Session. */
  constructor(options: { host: RuntimeHost; client: ClientPort; sessionId: string; clock: Clock; log: Log }) {
    this.#host = options.host;
    this.#client = options.client;
    this.#sessionId = options.sessionId;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Serves one call; a call that is being served already is left alone. */
  run(call: ClientCall): void {
    if (this.#open.has(call.callId)) return;
    const open = { turnId: call.run.turnId, method: call.method, cancel: new AbortController() };
    this.#open.set(call.callId, open);
    this.#serve(call, open.cancel.signal)
      .catch((error) => this.#log.warn("call to the editor could not be answered", { reason: String(error) }))
      .finally(() => this.#closed(call));
  }

  /** Answers a call that nobody serves: its Turn is not shown here, or it is fenced and the call frees nothing. */
  refuse(call: ClientCall): void {
    const { callId } = call;
    this.#host.calls.fail({
      sessionId: this.#sessionId,
      callId,
      code: INTERNAL,
      message: "The editor does not serve this Turn any more",
    }).catch((error) => this.#log.warn("a call could not be refused", { callId, reason: String(error) }));
  }

  /** The Engine does not wait any more. */
  cancel(callId: string): void {
    const call = this.#open.get(callId);
    // An unanswered create may still make a terminal: its answer is awaited so that it can be released.
    if (call !== undefined && call.method !== "terminal/create") {
      call.cancel.abort(new Error("The call was cancelled"));
    }
  }

  /** A Turn was fenced: its calls end. What frees a terminal still goes through, so that the Engine can leave nothing behind. */
  fence(turnId: string): void {
    for (const [callId, call] of this.#open) {
      if (call.turnId === turnId && !isFreeing(call.method)) this.cancel(callId);
    }
  }

  /** A Turn is over: its calls end, terminals that the Engine left are killed and released. */
  end(turnId: string): void {
    let open = false;
    for (const [callId, call] of this.#open) {
      if (call.turnId !== turnId) continue;
      open = true;
      this.cancel(callId);
    }
    if (open) this.#over.add(turnId);
    const terminals = this.#terminals.get(turnId);
    this.#terminals.delete(turnId);
    for (const terminalId of terminals ?? []) this.#free(terminalId);
  }

  /** Ends everything. */
  close(): void {
    this.#closing.abort(new Error("The Session was closed"));
    const turns = new Set([
      ...this.#terminals.keys(),
      ...[...this.#open.values()].map((call) => call.turnId),
    ]);
    for (const turnId of turns) this.end(turnId);
  }

  #closed(call: ClientCall): void {
    this.#open.delete(call.callId);
    const { turnId } = call.run;
    if (![...this.#open.values()].some((open) => open.turnId === turnId)) this.#over.delete(turnId);
  }

  async #serve(call: ClientCall, signal: AbortSignal): Promise<void> {
    const key = { sessionId: this.#sessionId, callId: call.callId };
    let result: Json;
    try {
      this.#permit(call.method);
      result = await this.#client.request(
        call.method,
        { ...call.params, sessionId: this.#sessionId },
        signal,
      ) as Json;
    } catch (error) {
      const refused = error instanceof ClientRefused
        ? error
        : new ClientRefused(INTERNAL, "The editor did not answer");
      return await this.#tell(() =>
        this.#host.calls.fail({ ...key, code: refused.code, message: refused.message })
      );
    }
    this.#track(call, result);
    await this.#tell(() => this.#host.calls.settle({ ...key, result: result ?? null }));
  }

  /** Gives the Host an answer, again while it cannot be reached: an Engine waits for it. */
  async #tell(answer: () => Promise<void>): Promise<void> {
    const until = this.#clock.now() + LIMITS.recoveryMs;
    for (let attempt = 0;; attempt++) {
      try {
        return await answer();
      } catch (error) {
        if (error instanceof HostError && TOLD.has(error.code)) return;
        const away = error instanceof HostError &&
          (error.dispatch !== "answered" || error.code === "unavailable");
        if (!away || this.#closing.signal.aborted || this.#clock.now() >= until) throw error;
        await this.#clock.sleep(Math.min(50 * 2 ** attempt, 1000), this.#closing.signal);
      }
    }
  }

  #permit(method: string): void {
    const { abilities } = this.#client;
    const offered = method === "fs/read_text_file"
      ? abilities.readTextFile
      : method === "fs/write_text_file"
      ? abilities.writeTextFile
      : method.startsWith("terminal/") && abilities.terminal;
    if (!offered) throw new ClientRefused(METHOD_NOT_FOUND, `The editor does not offer "${method}"`);
  }

  #track(call: ClientCall, result: Json): void {
    const { turnId } = call.run;
    const id = terminalIdOf(call.method === "terminal/create" ? result : call.params);
    if (id === undefined) return;
    if (call.method === "terminal/release") {
      this.#terminals.get(turnId)?.delete(id);
    } else if (call.method === "terminal/create") {
      if (this.#over.has(turnId)) return this.#free(id);
      const terminals = this.#terminals.get(turnId) ?? new Set();
      this.#terminals.set(turnId, terminals.add(id));
    }
  }

  #free(terminalId: string): void {
    const params: JsonObject = { sessionId: this.#sessionId, terminalId };
    const over = new AbortController();
    // The release does not wait for the kill: an editor that answers neither was told both.
    const told = ["terminal/kill", "terminal/release"].map((method) =>
      this.#client.request(method, params, over.signal)
    );
    const alarm = new AbortController();
    this.#clock.sleep(LIMITS.closeMs, alarm.signal).then(() => over.abort(), () => {});
    Promise.allSettled(told).then(() => alarm.abort());
  }
}

function terminalIdOf(value: Json): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const id = (value as JsonObject).terminalId;
  return typeof id === "string" ? id : undefined;
}
