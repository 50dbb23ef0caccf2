import type { Json, JsonObject } from "../../src/model/json.ts";
import { type Answers, NEVER, Refusal } from "./answers.ts";
import { Child } from "./child.ts";
import { fields } from "./rules.ts";
import { gangway, type Launch } from "./launch.ts";
import { type Entry, type Message, type RequestId, type RpcError, Wire } from "./wire.ts";

/** How an editor starts and behaves. */
export interface EditorOptions {
  /** What to start; Gangway with `--memory` unless given. */
  readonly launch?: Launch;
  /** `clientCapabilities` of initialize. */
  readonly capabilities?: JsonObject;
  readonly answers?: Answers;
  /** Milliseconds that every wait may take. */
  readonly deadlineMs?: number;
  /** `unread` leaves the agent's stderr in its pipe. */
  readonly stderr?: "read" | "unread";
  /** How many lines to keep for reading back. */
  readonly keep?: number;
}

/** The answer to a request. */
export type Answer = { readonly result: Json } | { readonly error: RpcError };

/** A request was answered with an error. */
export class RpcFailure extends Error {
  /** Keeps the error object. */
  constructor(method: string, readonly error: RpcError) {
    super(`"${method}" was answered with ${JSON.stringify(error)}`);
    this.name = "RpcFailure";
  }
}

const DEADLINE_MS = 10_000;
const encoder = new TextEncoder();

/** An editor: an ACP client that works on the bare lines of a child process and judges each of them. */
export class Editor {
  readonly wire: Wire;
  #child: Child;
  #options: EditorOptions;
  #answers: Answers;
  #nextId = 1;
  #withdrawals = new Map<string, AbortController>();
  #listeners = new Set<() => void>();
  #gone = new AbortController();
  /** `drained`: the input has ended; `finished`: the process was seen to end, or was killed. */
  #state: "running" | "drained" | "finished" = "running";

  /** Starts the program. Use {@linkcode withEditor}, which also ends it. */
  constructor(options: EditorOptions) {
    this.#options = options;
    this.#answers = options.answers ?? {};
    this.wire = new Wire(options.keep);
    this.#child = new Child(options.launch ?? gangway("--memory"), {
      line: (text, bytes) => this.#take(text, bytes),
      ended: (rest) => {
        // Whoever is killed may leave half a line.
        if (rest !== "" && !this.finished) this.wire.faults.push(`the last line has no end: ${rest}`);
        this.#gone.abort();
      },
      complained: () => {
        for (const listener of [...this.#listeners]) listener();
      },
    }, options.stderr ?? "read");
  }

  /** Process id of the child. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Whether the process has ended and was seen to end. */
  get finished(): boolean {
    return this.#state === "finished";
  }

  /** What the agent wrote to stderr so far. */
  get stderr(): string {
    return this.#child.stderr;
  }

  /** Changes how requests of the agent are answered from now on. */
  answer(answers: Answers): void {
    this.#answers = { ...this.#answers, ...answers };
  }

  /** Sends initialize and returns its result. */
  initialize(): Promise<JsonObject> {
    return this.request("initialize", this.hello()) as Promise<JsonObject>;
  }

  /** The params of initialize as this editor sends them. */
  hello(): JsonObject {
    return {
      protocolVersion: 1,
      clientCapabilities: this.#options.capabilities ?? {},
      clientInfo: { name: "gangway-tests", version: "1.0.0" },
    };
  }

  /** Sends a request and returns its result; an error answer is thrown as {@linkcode RpcFailure}. */
  async request(method: string, params: JsonObject): Promise<Json> {
    const answer = await this.call(method, params);
    if ("error" in answer) throw new RpcFailure(method, answer.error);
    return answer.result;
  }

  /** Sends a request and returns its answer, whatever it is. With `judged: false` the params are wrong on purpose. */
  call(method: string, params: Json, options: { judged?: boolean } = {}): Promise<Answer> {
    const message = this.compose(method, params);
    const answer = this.expect(message, options);
    this.bytes(encoder.encode(`${JSON.stringify(message)}\n`));
    return answer;
  }

  /** Sends a request that has to fail and returns the error. */
  async refused(method: string, params: Json, options: { judged?: boolean } = {}): Promise<RpcError> {
    const answer = await this.call(method, params, options);
    if ("error" in answer) return answer.error;
    throw new Error(`"${method}" was not refused but answered with ${JSON.stringify(answer.result)}`);
  }

  /** Sends a notification. */
  notify(method: string, params: JsonObject): void {
    const text = JSON.stringify({ jsonrpc: "2.0", method, params });
    this.wire.record("client", text, text.length);
    this.bytes(encoder.encode(`${text}\n`));
  }

  /** Makes a request with a fresh id without sending it. */
  compose(method: string, params: Json): JsonObject & { readonly id: number } {
    return { jsonrpc: "2.0", id: this.#nextId++, method, params };
  }

  /** Records a message that goes out by {@linkcode bytes} and waits for its answer. */
  expect(message: JsonObject & { readonly id: number }, options: { judged?: boolean } = {}): Promise<Answer> {
    const text = JSON.stringify(message);
    const answer = this.until(
      (entry) => answerTo(entry, message.id),
      `an answer to ${message.id} "${message.method}"`,
      { from: this.wire.count },
    );
    this.wire.record("client", text, text.length, options.judged ?? true);
    // A test that fails elsewhere does not come to wait for it.
    answer.catch(() => {});
    return answer;
  }

  /** Writes bytes as they are, in order with everything else. */
  bytes(bytes: Uint8Array): void {
    this.#child.write(bytes);
  }

  /** Writes lines that are no messages and says how many answers without an id they deserve. */
  garbage(bytes: Uint8Array | string, answers: number): void {
    this.wire.rules.expectNullAnswers(answers);
    this.bytes(typeof bytes === "string" ? encoder.encode(bytes) : bytes);
  }

  /** Waits until `test` returns something for a line, those that came before included. */
  until<T>(
    test: (entry: Entry) => T | undefined,
    what: string,
    options: { from?: number; deadlineMs?: number } = {},
  ): Promise<T> {
    const from = options.from ?? 0;
    for (const entry of this.wire.entries) {
      if (entry.index < from) continue;
      const found = test(entry);
      if (found !== undefined) return Promise.resolve(found);
    }
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const stop = this.wire.watch((entry) => {
      try {
        const found = test(entry);
        if (found !== undefined) resolve(found);
      } catch (error) {
        reject(error);
      }
    });
    return this.within(promise, what, options.deadlineMs).finally(stop);
  }

  /** Waits for an update of a Session for which `test` holds. */
  updated(
    sessionId: string,
    test: (update: Record<string, unknown>) => boolean,
    what: string,
    from = 0,
  ): Promise<Record<string, unknown>> {
    return this.until(
      (entry) => {
        const update = updateOf(entry, sessionId);
        return update !== undefined && test(update) ? update : undefined;
      },
      what,
      { from },
    );
  }

  /** Waits until the agent wrote this text to stderr. */
  complained(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (!this.stderr.includes(text)) return;
      this.#listeners.delete(look);
      resolve();
    };
    this.#listeners.add(look);
    look();
    return this.within(promise, `"${text}" on stderr`);
  }

  /** Waits for a request of the agent. */
  asked(
    method: string,
    from = 0,
  ): Promise<{ readonly id: RequestId; readonly params: JsonObject; readonly index: number }> {
    return this.until(
      (entry) => {
        const { message } = entry;
        if (
          entry.from !== "agent" || message?.kind !== "request" || message.method !== method
        ) return undefined;
        return { id: message.id, params: message.params as JsonObject, index: entry.index };
      },
      `a request "${method}"`,
      { from },
    );
  }

  /** Bounds any promise by the deadline and by the life of the child; a failure shows the whole wire. */
  async within<T>(promise: Promise<T>, what: string, deadlineMs?: number): Promise<T> {
    const limit = deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    const fail = (why: string) => reject(new Error(`${why} while waiting for ${what}\n${this.report()}`));
    const timer = setTimeout(() => fail(`Nothing for ${limit} ms`), limit);
    const gone = () => {
      // Whoever killed the agent waits for nothing more, and nobody is left to hear a failure.
      if (this.finished) clearTimeout(timer);
      else fail("The agent's output ended");
    };
    if (this.#gone.signal.aborted) gone();
    this.#gone.signal.addEventListener("abort", gone);
    try {
      return await Promise.race([promise, failed]);
    } finally {
      clearTimeout(timer);
      this.#gone.signal.removeEventListener("abort", gone);
    }
  }

  /** Stops reading the agent's output. */
  hold(): void {
    this.#child.hold();
  }

  /** Reads on. */
  release(): void {
    this.#child.release();
  }

  /** Ends the agent's input after everything that was written. */
  async endInput(): Promise<void> {
    if (this.#state === "running") this.#state = "drained";
    await this.#child.endInput();
  }

  /** Sends a signal. */
  signal(name: Deno.Signal): void {
    this.#child.signal(name);
  }

  /** Waits for the end of the process, its output included. */
  async exited(deadlineMs?: number): Promise<Deno.CommandStatus> {
    const limit = deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`No exit within ${limit} ms\n${this.report()}`)), limit);
    try {
      return await Promise.race([this.#child.exited(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the input, waits for a clean exit and throws when any line was wrong or any request is left unanswered. */
  async finish(options: { unanswered?: boolean; code?: number } = {}): Promise<void> {
    this.release();
    if (this.#state === "running") await this.endInput();
    const status = await this.exited();
    const faults = [...this.wire.faults, ...(options.unanswered === true ? [] : this.wire.rules.end())];
    if (status.code !== (options.code ?? 0)) faults.push(`the exit code is ${status.code}`);
    this.#state = "finished";
    if (faults.length > 0) {
      throw new Error(`${faults.length} faults:\n  ${faults.join("\n  ")}\n${this.report()}`);
    }
  }

  /** Kills the child and lets go of everything; whoever still waits for something waits for ever. */
  async kill(): Promise<void> {
    this.release();
    this.#state = "finished";
    this.#child.signal("SIGKILL");
    await this.#child.endInput();
    await this.#child.exited();
  }

  /** Wire and stderr for people. */
  report(): string {
    return `--- wire\n${this.wire.dump()}\n--- stderr\n${this.stderr}`;
  }

  #take(text: string, bytes: number): void {
    const { message } = this.wire.record("agent", text, bytes);
    if (message?.kind === "request") void this.#serve(message);
    if (message?.kind === "notification" && message.method === "$/cancel_request") {
      this.#withdrawals.get(JSON.stringify(fields(message.params).requestId))?.abort();
    }
  }

  async #serve(request: Extract<Message, { kind: "request" }>): Promise<void> {
    const key = JSON.stringify(request.id);
    const withdrawn = new AbortController();
    this.#withdrawals.set(key, withdrawn);
    const answerer = this.#answers[request.method];
    let reply: Awaited<ReturnType<NonNullable<typeof answerer>>>;
    try {
      reply = answerer === undefined
        ? new Refusal(-32601, `No answer to "${request.method}"`)
        : await answerer(request.params as JsonObject, withdrawn.signal);
    } catch (error) {
      this.wire.faults.push(`the editor could not answer "${request.method}": ${error}`);
      reply = new Refusal(-32603, "The test could not answer");
    }
    if (reply === NEVER) return;
    this.reply(request.id, reply);
  }

  /** Answers a request of the agent by hand. */
  reply(id: RequestId, reply: Json | Refusal): void {
    const text = JSON.stringify(
      reply instanceof Refusal
        ? { jsonrpc: "2.0", id, error: { code: reply.code, message: reply.message } }
        : { jsonrpc: "2.0", id, result: reply },
    );
    this.wire.record("client", text, text.length, false);
    this.bytes(encoder.encode(`${text}\n`));
  }
}

/** Runs `body` with a started editor, then drains and judges it. A failure in `body` shows the wire. */
export async function withEditor(
  options: EditorOptions,
  body: (editor: Editor) => Promise<void>,
): Promise<void> {
  const editor = new Editor(options);
  try {
    await body(editor);
    if (!editor.finished) await editor.finish();
    if (editor.wire.faults.length > 0) throw new Error(`Faults:\n  ${editor.wire.faults.join("\n  ")}`);
  } catch (error) {
    if (error instanceof Error && !error.message.includes("--- wire")) {
      error.message += `\n${editor.report()}`;
    }
    throw error;
  } finally {
    if (!editor.finished) await editor.kill();
  }
}

/** The answer in a line, if it is the one to this request. */
export function answerTo(entry: Entry, id: RequestId): Answer | undefined {
  const { message } = entry;
  if (entry.from !== "agent" || message === undefined || !("id" in message) || message.id !== id) {
    return undefined;
  }
  if (message.kind === "result") return { result: message.result as Json };
  return message.kind === "error" ? { error: message.error } : undefined;
}

/** The update in a line, if it is one of this Session. */
export function updateOf(entry: Entry, sessionId: string): Record<string, unknown> | undefined {
  const { message } = entry;
  if (entry.from !== "agent" || message?.kind !== "notification" || message.method !== "session/update") {
    return undefined;
  }
  const params = fields(message.params);
  return params.sessionId === sessionId ? fields(params.update) : undefined;
}
