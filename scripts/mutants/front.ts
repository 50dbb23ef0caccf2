import { type Mutant, planterOf } from "./mutant.ts";

const at = (name: string) => `tests/acp/${name}_test.ts`;

const lines = planterOf("src/wire/lines.ts", at("lines"));
const envelope = planterOf("src/acp/envelope.ts", at("hostile"));
const mailbox = planterOf("src/acp/mailbox.ts", at("mailbox"));
const entry = planterOf("src/acp/mailbox.ts", at("hostile"));
const writer = planterOf("src/acp/writer.ts", at("writer"));
const client = planterOf("src/acp/client.ts", at("client"));
const errors = planterOf("src/acp/errors.ts", at("errors"));
const negotiation = planterOf("src/acp/negotiation.ts", at("negotiation"));
const params = planterOf("src/acp/params.ts", at("params"));
const content = planterOf("src/acp/content.ts", at("content"));
const methods = planterOf("src/acp/methods.ts", at("order"));
const offered = planterOf("src/acp/methods.ts", at("negotiation"));
const settings = planterOf("src/acp/methods.ts", at("settings"));
const responses = planterOf("src/acp/responses.ts", at("settings"));
const end = planterOf("src/acp/serve.ts", at("end"));
const stdio = planterOf("src/acp/stdio.ts", at("stdio"));

/** Faults of `src/acp/`. */
export const FRONT_MUTANTS: readonly Mutant[] = [
  stdio("A1 A6", "what a library prints goes to stdout", "  moveConsole(options.log);\n", ""),
  settings("A1", "a page of a list has any length", "bytesOf(page) <= LIST_BYTES", "bytesOf(page) > 0"),

  envelope("A2", "a broken line is an invalid request", "id: null, code: -32700,", "id: null, code: -32600,"),
  envelope(
    "A2",
    "a broken line is passed over",
    'if (line.text.trim() === "") return { kind: "blank" };\n',
    'return { kind: "blank" };\n',
  ),
  envelope(
    "A2",
    "an array is passed over",
    "if (Array.isArray(value)) return refused(",
    'if (Array.isArray(value)) return { kind: "blank" };\n  if (Array.isArray(value)) return refused(',
  ),
  envelope(
    "A2",
    "another version of JSON-RPC is taken",
    'if (jsonrpc !== "2.0") return',
    'if (jsonrpc === "1.0") return',
  ),
  envelope(
    "A2",
    "an id of any kind is taken",
    "if (!isId(id)) return refused(null,",
    "if (id === undefined) return refused(null,",
  ),
  envelope(
    "A2",
    "a message without a method is passed over",
    "return refused(null, '\"method\" is missing');",
    'return { kind: "blank" };',
  ),
  mailbox(
    "A2",
    "a notification before the handshake is taken",
    'if (this.#state === "open") await this.#hand(envelope.message);',
    "await this.#hand(envelope.message);",
  ),
  entry(
    "A2",
    "a request before the handshake is taken",
    'if (this.#state === "new") {\n      return this.#refuse',
    'if (this.#state === "ended") {\n      return this.#refuse',
  ),
  entry(
    "A2",
    "any number of requests waits",
    "if (this.#atHand >= LIMITS.requestsAtHand) {",
    "if (this.#atHand < 0) {",
  ),
  offered(
    "A2 A4",
    "an unknown method is an internal error",
    "new RequestError(-32601,",
    "new RequestError(-32603,",
  ),
  errors(
    "A2 S9",
    "what nobody foresaw is told word for word",
    '"Gangway failed in a way that it did not foresee; its log says where"',
    "String(error)",
  ),
  errors(
    "A2",
    "a link that cannot be taken is an internal error",
    "return new RequestError(INVALID_PARAMS, error.message, { code: error.code });",
    "return new RequestError(INTERNAL, error.message, { code: error.code });",
  ),
  params(
    "A2",
    "an error repeats what was sent",
    'const text = z.string("a string");',
    "const text = z.string({ error: (issue) => `a string, not ${JSON.stringify(issue.input)}` });",
  ),
  params("A2", "an error does not name the field", "invalidParams(fieldOf(issue.path),", 'invalidParams("",'),
  params("A2", "a prompt of nothing is taken", '.min(1, "a list with at least one content block")', ""),

  mailbox("A3", "what follows a handshake does not wait for its answer", "    await answered.promise;\n", ""),
  mailbox(
    "A3",
    "what follows a handshake does not wait for what is loaded",
    "await this.#parts.ready();",
    "void this.#parts.ready();",
  ),
  mailbox(
    "A3",
    "a second handshake is not waited for",
    "    await answered.promise;\n",
    "    if (first) await answered.promise;\n",
  ),

  negotiation("A4", "any version is agreed to", "protocolVersion: PROTOCOL_VERSION,", "protocolVersion: 2,"),
  negotiation("A4", "the agent has no name", "    agentInfo: info,\n", ""),
  negotiation(
    "A4",
    "what the engine does not take is advertised",
    "promptCapabilities: { ...profile.prompt },",
    "promptCapabilities: { image: true, audio: true, embeddedContext: true },",
  ),
  negotiation(
    "A4",
    "MCP transports that the engine lacks are advertised",
    "mcpCapabilities: { ...profile.mcp },",
    "mcpCapabilities: { http: true, sse: true },",
  ),
  negotiation(
    "A4",
    "what is told of loading is not what is offered",
    "loadSession: OFFERED.load,",
    "loadSession: !OFFERED.load,",
  ),
  negotiation("A4", "an ability that is offered is not told", "...(OFFERED.close && { close: {} }),", ""),
  negotiation(
    "A4",
    "logins go to an editor that cannot carry them out",
    'if (type !== "terminal" || !terminal) continue;',
    'if (type !== "terminal") continue;',
  ),
  planterOf("src/acp/methods.ts", at("methods"))(
    "A4",
    "methods of absent abilities are there",
    "if (found?.offered !== true && !passed) throw",
    "if (found === undefined && !passed) throw",
  ),
  planterOf("src/acp/serve.ts", at("negotiation"))(
    "A4",
    "the handshake asks the Host",
    'if (method === "initialize") {',
    'if (method === "initialize") {\n        options.host.sessions.list({}).catch(() => {});',
  ),
  planterOf("src/acp/serve.ts", at("negotiation"))(
    "A4",
    "a second handshake does not count",
    "        client.abilities = abilities;\n",
    "        if (methods === undefined) client.abilities = abilities;\n",
  ),

  end("A5", "the last line needs a line feed", "if (last !== undefined) await mailbox.take(last);", ""),
  end(
    "A5",
    "requests at hand get no time",
    "await within(clock, LIMITS.drainMs, Promise.race([mailbox.idle(), writer.gone]));",
    "",
  ),
  end(
    "A5",
    "requests at hand get any time",
    "await within(clock, LIMITS.drainMs, Promise.race([mailbox.idle(), writer.gone]));",
    "await Promise.race([mailbox.idle(), writer.gone]);",
  ),
  end("A5", "Sessions are not released", "sessions?.shutdown().catch(", "Promise.resolve().catch("),
  end(
    "A5 C9",
    "Sessions are waited for however long they take",
    "await within(clock, CLOSE_MS, Promise.all([released, writer.close()]));",
    "await Promise.all([released, writer.close()]);",
  ),
  end("A5", "the signal is not heard", 'signal?.addEventListener("abort", stop, { once: true });', ""),
  end("A5", "a signal that came before goes unnoticed", "if (signal?.aborted) stop();", ""),
  end("A5", "a Client that stops reading goes unnoticed", "  writer.gone.then(stop);\n", ""),
  mailbox(
    "A5",
    "an answer comes after the end",
    'if (this.#state === "ended" || "method" in message) return;',
    'if ("method" in message) return;',
  ),

  lines(
    "A7",
    "a chunk is taken for a line",
    'if (this.#state === "reading") this.#append(chunk.subarray(start));',
    'if (this.#state === "reading") yield this.#take(chunk.subarray(start));',
  ),
  lines(
    "A7",
    "a byte order mark is part of a line",
    "#decoder: TextDecoder = new TextDecoder();",
    '#decoder: TextDecoder = new TextDecoder("utf-8", { ignoreBOM: true });',
  ),
  lines(
    "A7",
    "a line without a line feed is lost",
    "return this.#length === 0 ? undefined : this.#take(new Uint8Array(0));",
    "return undefined;",
  ),
  lines(
    "A7",
    "a line of exactly the limit is too long",
    "this.#length + end - start > this.#limit",
    "this.#length + end - start >= this.#limit",
  ),
  lines(
    "A7",
    "an over-long line is met with silence",
    "        yield this.#skip(chunk.subarray(start, end));",
    "        this.#skip(chunk.subarray(start, end));",
  ),
  lines(
    "A7",
    "what follows an over-long line is lost",
    'if (this.#state === "skipping") this.#state = "reading";\n      else yield',
    'if (this.#state === "reading") yield',
  ),
  envelope(
    "A7",
    "an over-long request is answered without its id",
    "refused(isRequest ? id : null, sentence)",
    "refused(null, sentence)",
  ),
  envelope(
    "A7",
    "an over-long answer leaves its request waiting",
    'if (found !== undefined && !isRequest && (found.next === "result" || found.next === "error")) {',
    "if (found === undefined && isRequest && id !== null) {",
  ),
  envelope(
    "A7 A2",
    "an empty line is answered",
    'if (line.text.trim() === "") return { kind: "blank" };',
    'if (line.text === null) return { kind: "blank" };',
  ),

  errors(
    "A8",
    "a Host that is not there looks like any fault",
    'unavailable: "host_unavailable",',
    'unavailable: "internal",',
  ),
  errors(
    "A8",
    "nothing says whether the Host heard of it",
    "{ dispatch: error.dispatch }, sessionId);",
    "{}, sessionId);",
  ),

  mailbox(
    "A9",
    "what follows an answer overtakes it",
    "    this.#write(message);\n    if (this.#handshake?.id",
    '    if ("result" in message) this.#follow.get(message.result as object)?.();\n    this.#write(message);\n    if (this.#handshake?.id',
  ),
  methods(
    "A9",
    "a Session is announced before it is named",
    "    after(result, () => {\n      this.#apart().then",
    "    (() => {\n      this.#apart().then",
  ),
  methods(
    "A9",
    "an answer follows its last update at once",
    "    } finally {\n      await this.#apart();\n    }",
    "    } finally {\n    }",
  ),
  methods(
    "A9",
    "the answer does not wait until the last update has left",
    "    await client.flushed();\n",
    "",
  ),

  writer("T4", "two writes are under way at once", "    if (this.#running) return;\n", ""),
  writer(
    "T4",
    "what came first waits for what came last",
    "    if (full !== undefined) return full;\n    const text = this.#growing;",
    '    if (full !== undefined && this.#growing === "") return full;\n    if (full !== undefined) this.#full.unshift(full);\n    const text = this.#growing;',
  ),
  writer(
    "T4",
    "lines go on after one failed",
    "    if (this.#failure !== undefined) throw this.#failure;\n",
    "",
  ),
  writer(
    "T4",
    "who waits for the last line is not told that it failed",
    "for (const { waiting } of this.#flushes) waiting.reject(this.#failure);",
    "for (const { waiting } of this.#flushes) waiting.resolve();",
  ),
  writer(
    "T4",
    "flushed means queued",
    "    if (this.backlog === 0) return Promise.resolve();",
    "    if (this.backlog >= 0) return Promise.resolve();",
  ),
  client(
    "T4",
    "a request overtakes updates",
    'this.#writer.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n");',
    'queueMicrotask(() => this.#writer.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n"));',
  ),
  client(
    "T4",
    "updates of two Sessions get mixed up",
    "if (sessionId !== this.#headOf) this.#turnTo(sessionId);",
    "if (this.#headOf === undefined) this.#turnTo(sessionId);",
  ),

  client(
    "C4",
    "a request that nobody wants any more is not withdrawn",
    '        this.notify("$/cancel_request", { requestId: id });\n',
    "",
  ),
  client("C4", "a request that is withdrawn waits for its answer", "        reject(signal.reason);\n", ""),
  client("C4", "a request whose signal is aborted leaves", "      signal.throwIfAborted();\n", ""),
  client(
    "I5",
    "an error answer looks like a result",
    'if (outcome.kind === "result") resolve(outcome.result);',
    'if (outcome.kind === "result" || outcome.code === -32601) resolve(undefined);',
  ),
  client(
    "C9",
    "what waits for the Client outlives the connection",
    "for (const pending of this.#pending.values()) pending.fail(new ClientGone());",
    "",
  ),

  content(
    "F7",
    "images go through that are not taken",
    'if (!accepts.image) throw notTaken(field, "images");',
    "",
  ),
  content(
    "F7",
    "sound goes through that is not taken",
    'if (!accepts.audio) throw notTaken(field, "audio");',
    "",
  ),
  content(
    "F7",
    "resources go through that are not taken",
    'if (!accepts.embeddedContext) throw notTaken(field, "embedded resources");',
    "",
  ),
  content(
    "F7",
    "base64 is read as far as it goes",
    'lastChunkHandling: "strict"',
    'lastChunkHandling: "stop-before-partial"',
  ),
  content(
    "F7",
    "bytes have no cap",
    "if (data.length / 4 * 3 - 2 > LIMITS.artifactBytes) throw tooLarge(field);",
    "",
  ),
  content(
    "F7",
    "an embedded text has no cap",
    "if (bytes.length > LIMITS.artifactBytes) throw tooLarge(field);",
    "",
  ),
  planterOf("src/acp/meta.ts", "tests/acp/content_test.ts")(
    "F7",
    "metadata has no cap",
    "JSON.stringify(meta).length <= LIMITS.metaBytes ? meta as Meta : undefined",
    "JSON.stringify(meta) ? meta as Meta : undefined",
  ),
  content("F7", "an embedded resource loses its URI", "        uri: resource.uri,\n", ""),
  content(
    "F7",
    "a link loses its URI",
    "        uri,\n        name,\n",
    '        uri: "file:///",\n        name,\n',
  ),

  responses("G1", "modes are not in the answer", "...(modes !== undefined && { modes }),", ""),
  responses(
    "G1",
    "options are not in the answer",
    "...(options.length > 0 && { configOptions: options })",
    "",
  ),
  responses(
    "G1",
    "boolean options go to an editor that did not ask",
    "booleans: abilities.booleanOptions",
    "booleans: true",
  ),
  settings(
    "G3",
    "a mode sets an option that is not there",
    'id: this.#modeOptions.get(sessionId) ?? "mode",',
    'id: "mode",',
  ),
  settings(
    "G3",
    "an option's answer is not the complete list",
    "return { configOptions: optionsOf(config, client.abilities) };",
    "return { configOptions: optionsOf(config, client.abilities).slice(0, 1) };",
  ),
  settings(
    "G3",
    "a boolean is taken that was not offered",
    'if (typeof value === "boolean" && !client.abilities.booleanOptions) {',
    'if (typeof value === "boolean" && value === undefined) {',
  ),
  planterOf("src/acp/params.ts", at("settings"))(
    "G3",
    "a boolean is taken for a choice",
    'if (type !== "boolean" && typeof value === "string")',
    'if (typeof value === "string" || typeof value === "boolean")',
  ),
  planterOf("src/acp/methods.ts", at("methods"))(
    "H4",
    "delete only closes",
    "await sessions.remove(sessionId).finally",
    "await sessions.close(sessionId).finally",
  ),
];
