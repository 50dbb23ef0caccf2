import type { Answer, Question } from "../../model/question.ts";
import type { AgentTurn } from "./turn.ts";
import type { EngineContext } from "../contract.ts";
import type { Faults } from "./faults.ts";
import { formAnswer, formOf, pageOf, permissionAnswer, permissionOf } from "./questions.ts";
import { HostError } from "../../host/errors.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { readOwnFile, writeOwnFile } from "./files.ts";
import { mayRunCommands } from "../command.ts";
import { metaOf, recordOf, textOf } from "./shape.ts";
import { isOwnTerminal, type OwnTerminals } from "./terminals.ts";
import { refused } from "./link.ts";
import { untilAborted } from "../waiting.ts";

/** What {@linkcode Requests} work with. */
export interface RequestParts {
  readonly context: () => EngineContext;
  /** Whether the Host has the Session open. */
  readonly used: () => boolean;
  /** The Turn that is at work. */
  readonly turn: () => AgentTurn | undefined;
  /** Terminals that run here. */
  readonly terminals: OwnTerminals;
  readonly faults: Faults;
}

/** Answers what an agent asks about one of its Sessions. */
export class Requests {
  readonly #parts: RequestParts;
  /** Pages that a person was sent to and that are not done. */
  readonly #pages = new Set<string>();

  /** Answers nothing by itself. */
  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  /** The result of a request. What it throws becomes the error. */
  async answer(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "session/request_permission":
        return await this.#permission(params, signal);
      case "elicitation/create":
        return await this.#form(params, signal);
      case "fs/read_text_file":
        return await this.#file("readTextFile", method, params, signal, readOwnFile);
      case "fs/write_text_file":
        return await this.#file("writeTextFile", method, params, signal, writeOwnFile);
      case "terminal/create":
      case "terminal/output":
      case "terminal/wait_for_exit":
      case "terminal/kill":
      case "terminal/release":
        return await this.#terminal(method, params, signal);
      default:
        this.#parts.faults.count("refused");
        throw refused(-32601, `Gangway does not know "${method}"`);
    }
  }

  async #permission(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const turn = this.#parts.turn();
    if (turn === undefined) {
      this.#parts.faults.count("idle");
      return permissionAnswer(undefined);
    }
    // The card comes before the dialog about it.
    const card = recordOf(params.toolCall);
    const called = textOf(card.toolCallId);
    if (called !== undefined) turn.push({ ...card, sessionUpdate: "tool_call_update" });
    await turn.drained();
    const id = called === undefined ? undefined : turn.tools.idOf(called);
    const title = (called === undefined ? undefined : turn.tools.titleOf(called)) ?? textOf(card.title);
    const question = permissionOf(params, { id, title });
    if (question !== undefined) return permissionAnswer(await this.#ask(turn, question, signal));
    this.#parts.faults.count("malformed");
    throw refused(-32602, "A permission request needs options");
  }

  async #form(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const turn = this.#parts.turn();
    if (turn === undefined) {
      this.#parts.faults.count("idle");
      return formAnswer(undefined);
    }
    const kind = params.mode === "url" ? "url" : "form";
    const { forms, urls = false } = turn.turn.services();
    if (!(kind === "url" ? urls : forms)) {
      const what = kind === "url" ? "opens no pages" : "has no forms";
      throw refused(-32602, `The editor that shows this Turn ${what}`);
    }
    await turn.drained();
    const called = textOf(params.toolCallId);
    const toolCallId = called === undefined ? undefined : turn.tools.idOf(called);
    const question = kind === "url" ? pageOf(params, toolCallId) : formOf(params, toolCallId);
    if (question === undefined) {
      this.#parts.faults.count("malformed");
      throw refused(
        -32602,
        kind === "url"
          ? "A page needs an id and a URL"
          : "Only forms of fields with known types can be shown",
      );
    }
    if (question.page !== undefined) this.#pages.add(question.page.elicitationId);
    const answer = await this.#ask(turn, question, signal);
    // Whoever did not agree waits for no end of it.
    if (question.page !== undefined && answer?.kind !== "values") {
      this.#pages.delete(question.page.elicitationId);
    }
    return formAnswer(answer, kind);
  }

  /** What a person was sent to a page for is done. False where nobody was sent from here. */
  completed({ elicitationId }: JsonObject): boolean {
    if (typeof elicitationId !== "string" || !this.#pages.delete(elicitationId)) return false;
    this.#parts.context().elicited(elicitationId).catch(() => this.#parts.faults.count("malformed"));
    return true;
  }

  /** Undefined where the Turn was stopped, the agent took its question back, or nobody can be asked. */
  async #ask(turn: AgentTurn, question: Question, signal: AbortSignal): Promise<Answer | undefined> {
    try {
      return await untilAborted(turn.sink.ask(question, signal), AbortSignal.any([signal, turn.signal]));
    } catch {
      return undefined;
    }
  }

  async #file(
    service: "readTextFile" | "writeTextFile",
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    own: (params: JsonObject, context: EngineContext) => Promise<JsonObject>,
  ): Promise<Json> {
    const turn = this.#parts.turn();
    if (turn?.turn.services()[service] === true) {
      try {
        return await call(turn, method, params, signal);
      } catch (error) {
        if (!goneEditor(error)) throw asError(error);
      }
    }
    if (!this.#parts.used()) throw closed();
    return await own(params, this.#parts.context());
  }

  async #terminal(method: string, params: JsonObject, signal: AbortSignal): Promise<Json> {
    const { terminals, context } = this.#parts;
    if (isOwnTerminal(params.terminalId)) return await terminals.answer(method, params, context(), signal);
    const turn = this.#parts.turn();
    if (turn?.turn.services().terminal === true) {
      try {
        return await call(turn, method, params, signal);
      } catch (error) {
        throw asError(error);
      }
    }
    // Without an editor there is no terminal of its that could be left behind.
    if (method === "terminal/kill" || method === "terminal/release") return {};
    if (method !== "terminal/create") throw refused(-32002, "There is no such terminal");
    if (!this.#parts.used()) throw closed();
    if (mayRunCommands()) return await terminals.answer(method, params, context(), signal);
    throw refused(
      -32603,
      "No editor that shows this Turn offers terminals, and Gangway may run nothing: start it with --allow-run=sh",
    );
  }
}

function closed(): Error {
  return refused(-32002, "There is no such Session: it was closed");
}

/** Calls the editor; the Host fills in the Session. */
function call(turn: AgentTurn, method: string, params: JsonObject, signal: AbortSignal): Promise<Json> {
  const { sessionId: _, _meta, ...rest } = params;
  const meta = metaOf(_meta);
  return turn.sink.call(method, meta === undefined ? rest : { ...rest, _meta: meta }, signal);
}

/** Whether the editor went away, rather than refused. */
function goneEditor(error: unknown): boolean {
  return error instanceof HostError && error.code === "unavailable" && error.data.code === undefined;
}

/** The editor's own error, as far as it is known. */
function asError(error: unknown): Error {
  if (!(error instanceof HostError)) return refused(-32603, "The Turn was stopped");
  const { code } = error.data;
  return refused(typeof code === "number" ? code : -32603, error.message);
}
