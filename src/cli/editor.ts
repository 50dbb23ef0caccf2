import type { Json, JsonObject } from "../model/json.ts";
import type { Launch } from "./launch.ts";
import { TextLineStream } from "@std/streams";

/** What this editor does with what the agent sends. */
export interface EditorHooks {
  /** Called for every `session/update`, in order. */
  update?(sessionId: string, update: JsonObject): void;
  /** Answers a request of the agent; what it throws becomes an error answer. Absent: every request is unknown. */
  answer?(method: string, params: JsonObject): Json | Promise<Json>;
}

/** How the agent's process ended. */
export interface AgentEnd {
  readonly code: number;
  /** The end of what it wrote to stderr. */
  readonly stderr: string;
}

/** The agent answered with an error, broke the protocol, or is gone. The message is for people. */
export class AgentError extends Error {
  /** JSON-RPC code of an error answer. */
  readonly code?: number;

  /** Keeps the sentence and the code. */
  constructor(message: string, code?: number) {
    super(message);
    this.name = "AgentError";
    this.code = code;
  }
}

/** Milliseconds for an answer, unless said otherwise. */
const ANSWER_MS = 20_000;

/** UTF-16 units of stderr that are kept. */
const STDERR_LENGTH = 16 * 1024;

/**
 * A small editor: starts an agent as a child process and speaks the Agent Client Protocol with it, line by line. It owns the process
 * until {@linkcode Editor.close}.
 */
export class Editor {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #hooks: EditorHooks;
  readonly #pending = new Map<number, PromiseWithResolvers<Json>>();
  readonly #ended: Promise<AgentEnd>;
  readonly #encoder = new TextEncoder();
  #nextId = 1;
  #gone: AgentError | undefined;

  /** Starts the agent. Throws where it cannot be started. */
  constructor({ program, args, env }: Launch, hooks: EditorHooks = {}) {
    this.#hooks = hooks;
    this.#child = new Deno.Command(program, {
      args: [...args],
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#ended = this.#run();
  }

  /** Process id of the agent. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a request and waits for its result. Throws {@linkcode AgentError}, also after `ms` without an answer. */
  async request(method: string, params: JsonObject, ms: number = ANSWER_MS): Promise<JsonObject> {
    if (this.#gone !== undefined) throw this.#gone;
    const id = this.#nextId++;
    const answer = Promise.withResolvers<Json>();
    this.#pending.set(id, answer);
    const timer = setTimeout(
      () => answer.reject(new AgentError(`"${method}" was not answered in ${ms / 1000} seconds`)),
      ms,
    );
    try {
      this.#send({ id, method, params });
      return objectOf(await answer.promise);
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** Sends a notification. */
  notify(method: string, params: JsonObject): void {
    this.#send({ method, params });
  }

  /** Closes the agent's input, as an editor that quits, and waits for its end. May be called twice. */
  async close(): Promise<AgentEnd> {
    await this.#writer.close().catch(() => {});
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), ANSWER_MS);
    try {
      return await this.#ended;
    } finally {
      clearTimeout(timer);
    }
  }

  #send(message: JsonObject): void {
    // A broken pipe shows as the end of the process, which every waiting request reports.
    this.#writer.write(this.#encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)).catch(
      () => {},
    );
  }

  async #run(): Promise<AgentEnd> {
    const [, stderr, status] = await Promise.all([this.#read(), this.#readErrors(), this.#child.status]);
    const said = stderr.trim();
    this.#fail(new AgentError(`The agent ended with code ${status.code}` + (said === "" ? "" : `: ${said}`)));
    return { code: status.code, stderr };
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
    for await (const line of lines) {
      const message = parse(line);
      if (message === undefined) {
        this.#fail(new AgentError(`The agent wrote a line that is no message: ${line.slice(0, 200)}`));
      } else if (typeof message.method !== "string") this.#settle(message);
      else if (message.id !== undefined) void this.#answer(message.method, message);
      else if (message.method === "session/update") {
        const params = objectOf(message.params);
        this.#hooks.update?.(String(params.sessionId), objectOf(params.update));
      }
    }
  }

  async #readErrors(): Promise<string> {
    let text = "";
    for await (const piece of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      text = (text + piece).slice(-STDERR_LENGTH);
    }
    return text;
  }

  #settle(message: JsonObject): void {
    const waiting = this.#pending.get(Number(message.id));
    if (message.error === undefined) waiting?.resolve(message.result ?? null);
    else {
      const { code, message: text, data } = objectOf(message.error);
      const detail = objectOf(data).details;
      waiting?.reject(
        new AgentError(`${text}${typeof detail === "string" ? `: ${detail}` : ""}`, Number(code)),
      );
    }
  }

  async #answer(method: string, { id = null, params }: JsonObject): Promise<void> {
    try {
      if (this.#hooks.answer === undefined) throw new AgentError(`This editor has no "${method}"`, -32601);
      this.#send({ id, result: await this.#hooks.answer(method, objectOf(params)) });
    } catch (error) {
      const code = error instanceof AgentError ? error.code ?? -32603 : -32603;
      this.#send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  #fail(error: AgentError): void {
    this.#gone ??= error;
    for (const waiting of this.#pending.values()) waiting.reject(this.#gone);
  }
}

/** A JSON object, or an empty one for anything else. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : {};
}

function parse(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line);
    return typeof value === "object" && value?.jsonrpc === "2.0" ? value : undefined;
  } catch {
    return undefined;
  }
}
