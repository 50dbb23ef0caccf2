import { setImmediate } from "node:timers";
import { AgentFailure, refusal } from "./failure.ts";
import { type AgentCommand, AgentProcess, exitSentence } from "./process.ts";
import { AgentLink, refused } from "./link.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { Faults } from "./faults.ts";
import { greeting, type Hello, helloOf } from "./hello.ts";
import type { ExtensionOutlet } from "../contract.ts";
import type { ExtensionAnswer } from "../../model/extension.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { Log } from "../../model/log.ts";
import { cut, recordOf } from "./shape.ts";
import { ownLogins, type TerminalLogin } from "./logins.ts";
import { Outward } from "./outward.ts";
import { Seats } from "./seats.ts";
import { RequestError } from "@agentclientprotocol/sdk";
import { untilAborted } from "../waiting.ts";

/** What an agent is started with. */
export interface AgentParts {
  readonly command: AgentCommand;
  readonly services: ClientServices;
  readonly faults: Faults;
  readonly log: Log;
  /** Where what the agent says beyond Sessions and Turns goes; nowhere where absent. */
  readonly outlet?: ExtensionOutlet;
  /** How a person logs in to it in a terminal; not at all where absent. */
  readonly terminal?: TerminalLogin;
  /** How Gangway names its version to the agent. */
  readonly version: string;
}

/** Milliseconds for the answer to `initialize`; a first start may have to load the agent from a registry. */
const HELLO_MS = 90_000;
/** UTF-16 units of an agent's own sentence. */
const SENTENCE = 1000;

/**
 * - `serving`: takes Sessions
 * - `retired`: takes no new Turn; ends when the last one at work is over
 * - `gone`: its process has ended or is being ended
 */
export type AgentState = "serving" | "retired" | "gone";

/** One running agent: its process, the link with it, and who hears which of its Sessions. */
export class Agent {
  /** What it said; rejects with an {@linkcode AgentFailure}. Need not be looked at. */
  readonly hello: Promise<Hello>;
  /** Resolves when nothing of it is left. */
  readonly gone: Promise<void>;
  readonly faults: Faults;
  readonly #parts: AgentParts;
  readonly #process: AgentProcess;
  readonly #link: AgentLink;
  /** Who hears which of its Sessions. */
  readonly seats: Seats;
  readonly #outward: Outward;
  readonly #over = new AbortController();
  readonly #fallen = Promise.withResolvers<void>();
  #working = 0;
  #state: AgentState = "serving";
  #logins: readonly JsonObject[] = [];
  /** Whether its end was our wish. */
  #end: "unforeseen" | "wanted" = "unforeseen";

  /** Starts it. Throws an {@linkcode AgentFailure} where that is not possible. */
  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.faults = parts.faults;
    this.#process = AgentProcess.start(parts.command, parts.log);
    this.seats = new Seats(parts.faults, () => this.#outward.opened());
    this.#outward = new Outward({
      outlet: parts.outlet,
      hostId: (sessionId) => this.seats.of(sessionId)?.context.sessionId,
      opening: () => this.seats.opening,
      faults: parts.faults,
    });
    this.#link = new AgentLink(this.#process, {
      update: (params) => this.seats.update(recordOf(params)),
      answered: (sessionId) => this.seats.of(sessionId)?.answered(),
      room: () => this.seats.room(),
      request: (method, params, signal) => this.#request(method, params, signal),
      notified: (method, params) => this.#notified(method, params),
    }, parts.faults);
    this.gone = this.#watch();
    this.hello = this.#greet();
    this.hello.catch(() => {});
  }

  /** Whether it takes Turns. */
  get state(): AgentState {
    return this.#state;
  }

  /** Aborts when it falls, with an {@linkcode AgentFailure}. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** The end of what it wrote to stderr. */
  get lastWords(): string {
    return this.#process.lastWords;
  }

  /** Asks. Rejects with an {@linkcode AgentFailure}; `doing` completes "The agent could not". */
  async request(method: string, params: JsonObject, doing: string): Promise<JsonObject> {
    try {
      return recordOf(await untilAborted(this.#link.request(method, params), this.#over.signal));
    } catch (error) {
      // The pipes break a moment before it is known why.
      if (!(error instanceof RequestError)) await this.#fallen.promise;
      if (this.#over.signal.aborted) throw this.#over.signal.reason;
      throw refusal(error, `could not ${doing}`, this.#logins);
    }
  }

  /**
   * Asks what only the editor and the agent know. The agent's error is an answer; rejects with an {@linkcode AgentFailure} where the agent
   * goes away, and at once when the signal aborts.
   */
  async ask(method: string, params: JsonObject, signal: AbortSignal): Promise<ExtensionAnswer> {
    const until = AbortSignal.any([signal, this.#over.signal]);
    try {
      const result = await untilAborted(this.#link.request(method, params, signal), until);
      return { kind: "result", result: result as Json };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RequestError)) await this.#fallen.promise;
      if (this.#over.signal.aborted) throw this.#over.signal.reason;
      const { code, message, data } = error as RequestError;
      return {
        kind: "error",
        code,
        message: cut(message, SENTENCE),
        ...(data !== undefined && { data: data as Json }),
      };
    }
  }

  /** Tells; an agent that is gone needs no telling. */
  notify(method: string, params: JsonObject): Promise<void> {
    return this.#link.notify(method, params);
  }

  /**
   * Opens a Session. What the agent says about one before its answer names it is kept for that long.
   */
  async open(method: string, params: JsonObject): Promise<JsonObject> {
    const opened = this.seats.open();
    try {
      const answer = await this.request(method, params, "open a Session");
      // The answer's reader takes its seat in the same turn of the event loop.
      setImmediate(opened);
      return answer;
    } catch (error) {
      opened();
      throw error;
    }
  }

  /** A Turn begins. Returns what to call when it is over. */
  work(): () => void {
    this.#working++;
    return () => {
      this.#working--;
      this.#rest();
    };
  }

  /** Takes no new Turn and ends with the last one at work. */
  retire(): void {
    if (this.#state !== "serving") return;
    this.#state = "retired";
    this.#rest();
  }

  /** Ends it and all that it started. */
  async close(): Promise<void> {
    if (this.#state !== "gone") {
      this.#end = "wanted";
      this.#fall("Gangway has ended the agent");
      await this.#process.close();
    }
    await this.gone;
  }

  #rest(): void {
    if (this.#state === "retired" && this.#working === 0) void this.close();
  }

  #fall(sentence: string): void {
    this.#state = "gone";
    this.#over.abort(new AgentFailure("engine_gone", sentence));
    this.#fallen.resolve();
    this.#link.close();
  }

  async #watch(): Promise<void> {
    await Promise.race([this.#link.over, this.#process.ended]);
    if (this.#end === "unforeseen") {
      this.faults.count("crash");
      this.#state = "gone";
      // Without its output it is of no use, whether it runs or not.
      await this.#process.close();
      const { program } = this.#parts.command;
      this.#fall(exitSentence(await this.#process.ended, program));
    }
    await Promise.all([this.#link.done, this.#process.ended]);
    this.seats.fall();
  }

  async #greet(): Promise<Hello> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(new AgentFailure("engine_gone", `The agent did not answer for ${HELLO_MS / 1000} seconds`));
    }, HELLO_MS);
    try {
      const { services, terminal, version } = this.#parts;
      const result = await untilAborted(
        this.request("initialize", greeting(services, version, terminal !== undefined), "begin"),
        late.signal,
      );
      if (result.protocolVersion !== 1) {
        throw new AgentFailure(
          "unsupported",
          `The agent speaks version ${
            JSON.stringify(result.protocolVersion ?? null)
          } of the protocol, Gangway version 1`,
        );
      }
      const hello = helloOf(result);
      this.#logins = ownLogins(hello.authMethods, terminal);
      return hello;
    } catch (error) {
      void this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #notified(method: string, params: JsonObject): void {
    // The protocol's own are the SDK's to hear.
    if (method.startsWith("$/")) return;
    if (method === "elicitation/complete") {
      if (!this.seats.completed(params)) this.faults.count("stray");
      return;
    }
    this.#outward.notify(method, params);
  }

  async #request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    if (this.#outward.takes(method)) return await this.#outward.request(method, params, signal);
    const sessionId: Json | undefined = params.sessionId;
    if (typeof sessionId !== "string") {
      this.faults.count("refused");
      throw refused(-32601, `Gangway does not know "${method}" without a Session`);
    }
    const seat = this.seats.of(sessionId);
    if (seat !== undefined) return await seat.request(method, params, signal);
    this.faults.count("foreign");
    throw refused(-32002, "There is no such Session");
  }
}
