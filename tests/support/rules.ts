import type { Entry, Message, RequestId } from "./wire.ts";
import { ProtocolSchema } from "./schema.ts";
import { SessionRules, type Update } from "./session_rules.ts";

const LINE_BYTES = 48 * 1024;
/** An image of 1 MiB in base64 and a line around it. */
const IMAGE_LINE_BYTES = Math.ceil(1024 * 1024 * 4 / 3) + LINE_BYTES;

/** What a Client has to offer before the agent may call it. */
const ABILITIES: Record<string, readonly string[]> = {
  "fs/read_text_file": ["fs", "readTextFile"],
  "fs/write_text_file": ["fs", "writeTextFile"],
  "terminal/create": ["terminal"],
  "terminal/output": ["terminal"],
  "terminal/release": ["terminal"],
  "terminal/wait_for_exit": ["terminal"],
  "terminal/kill": ["terminal"],
  "elicitation/create": ["elicitation", "form"],
  "notice": ["session", "notices"],
  "compaction_update": ["session", "compaction"],
  "compaction_summary_chunk": ["session", "compaction"],
};

let shared: ProtocolSchema | undefined;

interface Sent {
  readonly method: string;
  readonly sessionId: string | undefined;
  answered: boolean;
}

/** The rules of a whole connection, judged line by line. */
export class Rules {
  #schema: ProtocolSchema = shared ??= new ProtocolSchema();
  #toAgent = new Map<string, Sent>();
  #toClient = new Map<string, Sent & { cancelled: boolean }>();
  #sessions = new Map<string, SessionRules>();
  #capabilities: unknown;
  #initialized = false;
  #nullAnswers = 0;

  /** Says that so many lines were sent that deserve one answer without an id each. */
  expectNullAnswers(count: number): void {
    this.#nullAnswers += count;
  }

  /** Says that a Run of this Session which no prompt of this connection started may be shown live. */
  expectLive(sessionId: string): void {
    this.#session(sessionId).live = true;
  }

  /** Judges one line and remembers what it means for the next ones. */
  take(entry: Entry, judged: boolean): readonly string[] {
    if (entry.from === "client") {
      return entry.message === undefined ? [] : this.#fromClient(entry.message, judged);
    }
    const { message } = entry;
    if (message === undefined) return ["the agent's line is no JSON-RPC message"];
    return [...envelope(entry, message, this.#isExtension(message)), ...this.#fromAgent(message)];
  }

  /** Whether a message of the agent belongs to a method that the protocol leaves to others. */
  #isExtension(message: Message): boolean {
    const method = "method" in message ? message.method : this.#toAgent.get(keyOf(message.id))?.method;
    return method?.startsWith("_") === true;
  }

  /** What is wrong at the end of a connection that was drained. */
  end(): readonly string[] {
    const faults: string[] = [];
    for (const [key, sent] of this.#toAgent) {
      if (!sent.answered) faults.push(`request ${key} "${sent.method}" was never answered`);
    }
    if (this.#nullAnswers > 0) faults.push(`${this.#nullAnswers} bad lines were never answered`);
    return faults;
  }

  /** Requests of the Client that wait for their answer. */
  get unanswered(): number {
    return [...this.#toAgent.values()].filter((sent) => !sent.answered).length;
  }

  #fromClient(message: Message, judged: boolean): readonly string[] {
    const faults: string[] = [];
    const params = "params" in message ? fields(message.params) : {};
    const sessionId = typeof params.sessionId === "string" ? params.sessionId : undefined;
    if (message.kind === "request") {
      const { method } = message;
      this.#toAgent.set(keyOf(message.id), { method, sessionId, answered: false });
      if (method === "initialize") this.#capabilities = params.clientCapabilities;
      if (sessionId !== undefined) {
        if (method === "session/prompt") this.#session(sessionId).prompt(keyOf(message.id));
        if (method === "session/load") this.#session(sessionId).loading();
      }
      if (judged && !method.startsWith("_")) {
        faults.push(...this.#schema.check("agent", method, "Request", message.params));
      }
    } else if (message.kind === "notification") {
      if (judged && !message.method.startsWith("_")) {
        faults.push(...this.#schema.check("agent", message.method, "Notification", message.params));
      }
    } else {
      const asked = this.#toClient.get(keyOf(message.id));
      if (asked === undefined) {
        return judged ? [`the editor answered ${keyOf(message.id)}, which nobody asked`] : [];
      }
      asked.answered = true;
      if (asked.sessionId !== undefined) this.#session(asked.sessionId).dialogClosed(keyOf(message.id));
      if (judged && message.kind === "result") {
        faults.push(...this.#schema.check("client", asked.method, "Response", message.result));
      }
    }
    return faults.map((fault) => `the editor sent: ${fault}`);
  }

  #fromAgent(message: Message): readonly string[] {
    switch (message.kind) {
      case "request":
        return this.#call(message.id, message.method, message.params);
      case "notification":
        return this.#notification(message.method, message.params);
      default:
        return this.#answer(message);
    }
  }

  #answer(message: Extract<Message, { kind: "result" | "error" }>): readonly string[] {
    const key = keyOf(message.id);
    const sent = this.#toAgent.get(key);
    const faults: string[] = [];
    // The errors of an extension method are its own.
    if (message.kind === "error" && !this.#isExtension(message)) {
      faults.push(...this.#schema.checkError(message.error));
    }
    if (sent === undefined) {
      if (message.id === null && message.kind === "error" && this.#nullAnswers > 0) this.#nullAnswers -= 1;
      else faults.push(`answer ${key} belongs to no request`);
      return faults;
    }
    if (sent.answered) return [...faults, `request ${key} "${sent.method}" was answered a second time`];
    sent.answered = true;
    const done = message.kind === "result";
    if (done && !sent.method.startsWith("_")) {
      faults.push(...this.#schema.check("agent", sent.method, "Response", message.result));
    }
    if (sent.method === "initialize" && done) this.#initialized = true;
    if (sent.method === "session/new" && done) {
      const { sessionId } = fields(message.result);
      if (typeof sessionId === "string") this.#session(sessionId).named();
    }
    if (sent.sessionId !== undefined) {
      const session = this.#session(sent.sessionId);
      if (sent.method === "session/prompt") faults.push(...session.prompted(key));
      if (sent.method === "session/load") session.loaded(done);
      if (sent.method === "session/resume" && done) session.named();
      if ((sent.method === "session/close" || sent.method === "session/delete") && done) session.closed();
    }
    return faults;
  }

  #call(id: RequestId, method: string, params: unknown): readonly string[] {
    const key = keyOf(id);
    const { sessionId, toolCall } = fields(params);
    const faults: string[] = [];
    if (!this.#initialized) faults.push(`"${method}" was sent before initialize was answered`);
    if (this.#toClient.has(key)) faults.push(`the agent used request id ${key} twice`);
    const session = typeof sessionId === "string" ? sessionId : undefined;
    this.#toClient.set(key, { method, sessionId: session, answered: false, cancelled: false });
    if (method.startsWith("_")) return faults;
    faults.push(...this.#schema.check("client", method, "Request", params), ...this.#offered(method));
    if (
      session !== undefined && (method === "session/request_permission" || method === "elicitation/create")
    ) {
      const card = fields(toolCall).toolCallId ?? fields(params).toolCallId;
      faults.push(...this.#session(session).dialog(key, typeof card === "string" ? card : undefined));
    }
    return faults;
  }

  #notification(method: string, params: unknown): readonly string[] {
    if (!this.#initialized) return [`"${method}" was sent before initialize was answered`];
    if (method.startsWith("_")) return [];
    const faults = [...this.#schema.check("client", method, "Notification", params)];
    if (faults.length > 0) return faults;
    const { requestId, sessionId, update } = fields(params);
    if (method === "$/cancel_request") {
      const asked = this.#toClient.get(keyOf(requestId as RequestId));
      if (asked === undefined) return [`"$/cancel_request" names ${requestId}, which the agent never asked`];
      if (asked.cancelled) return [`request ${requestId} was cancelled a second time`];
      asked.cancelled = true;
      if (asked.sessionId !== undefined) {
        this.#session(asked.sessionId).dialogClosed(keyOf(requestId as RequestId));
      }
    }
    if (method === "session/update") {
      const shown = update as Update;
      return [...this.#offered(shown.sessionUpdate), ...this.#session(String(sessionId)).update(shown)];
    }
    return [];
  }

  #offered(what: string): readonly string[] {
    const path = ABILITIES[what];
    if (path === undefined) return [];
    let at: unknown = this.#capabilities;
    for (const key of path) at = fields(at)[key];
    return at === undefined || at === null || at === false
      ? [`"${what}" was sent to a Client that does not offer it`]
      : [];
  }

  #session(sessionId: string): SessionRules {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) this.#sessions.set(sessionId, session = new SessionRules(sessionId));
    return session;
  }
}

function keyOf(id: RequestId): string {
  return JSON.stringify(id);
}

/** The properties of whatever might be an object. */
export function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}

/** What the line itself has to be, whatever it says. */
function envelope(entry: Entry, message: Message, isExtension: boolean): readonly string[] {
  const faults: string[] = [];
  const value = JSON.parse(entry.text) as Record<string, unknown>;
  const allowed: Record<Message["kind"], readonly string[]> = {
    request: ["jsonrpc", "id", "method", "params"],
    notification: ["jsonrpc", "method", "params"],
    result: ["jsonrpc", "id", "result"],
    error: ["jsonrpc", "id", "error"],
  };
  for (const key of Object.keys(value)) {
    if (!allowed[message.kind].includes(key)) {
      faults.push(`unknown property "${key}" beside the message`);
    }
  }
  if (value.jsonrpc !== "2.0") faults.push('"jsonrpc" is not "2.0"');
  const cap = entry.bytes > LINE_BYTES &&
      (isExtension || /"type":"(?:image|audio|resource)"/.test(entry.text))
    ? IMAGE_LINE_BYTES
    : LINE_BYTES;
  if (entry.bytes > cap) faults.push(`the line has ${entry.bytes} bytes, more than ${cap}`);
  return faults;
}
