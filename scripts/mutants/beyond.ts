import { type Mutant, planterOf } from "./mutant.ts";

const front = planterOf("src/acp/extensions.ts", "tests/acp/extensions_test.ts");
const taken = planterOf("src/acp/extensions.ts", "tests/process/extensions_test.ts");
const negotiation = planterOf("src/acp/negotiation.ts", "tests/acp/extensions_test.ts");
const host = planterOf("src/host/local/extensions.ts", "tests/host/local/extensions_test.ts");
const outbox = planterOf("src/host/local/outbox.ts", "tests/host/local/extensions_test.ts");
const connection = planterOf("src/host/local/connection.ts", "tests/host/local/extensions_test.ts");
const session = planterOf("src/host/local/session.ts", "tests/host/local/extensions_test.ts");
const agent = planterOf("src/engine/acp/agent.ts", "tests/process/extensions_test.ts");
const outward = planterOf("src/engine/acp/outward.ts", "tests/process/extensions_test.ts");
const engine = planterOf("src/engine/acp/extensions.ts", "tests/process/extensions_test.ts");
const offered = planterOf("src/engine/acp/extensions.ts", "tests/process/metadata_test.ts");
const hello = planterOf("src/engine/acp/hello.ts", "tests/process/metadata_test.ts");
const profile = planterOf("src/engine/acp/profile.ts", "tests/process/metadata_test.ts");
const commands = planterOf("src/engine/acp/engine.ts", "tests/process/metadata_test.ts");
const setting = planterOf("src/engine/acp/conversation.ts", "tests/process/metadata_test.ts");
const opening = planterOf("src/engine/acp/lobby.ts", "tests/process/metadata_test.ts");
const logins = planterOf("src/engine/acp/logins.ts", "tests/process/login_test.ts");
const refusal = planterOf("src/engine/acp/failure.ts", "tests/process/login_test.ts");
const terminal = planterOf("src/cli/login.ts", "tests/process/login_test.ts");
const words = planterOf("src/cli/flags.ts", "tests/process/login_test.ts");

/** Faults of what goes beyond Sessions and Turns. */
export const BEYOND_MUTANTS: readonly Mutant[] = [
  front(
    "E1 S4",
    "an extension method about any Session goes through",
    "if (this.#parts.sessions.owns(sessionId)) return",
    'if (sessionId !== "") return',
  ),
  front(
    "E1",
    "news about a Session that was given up is told",
    "if (this.#concerns(event.message)) client.notify(",
    "client.notify(",
  ),
  front(
    "E1",
    "the editor is asked about a Session that it gave up",
    "if (!this.#concerns(message)) {",
    'if (message.method === "") {',
  ),
  front(
    "E1",
    "authenticate answers with whatever the Engine said",
    'return method === "authenticate" || method === "logout" ? onlyMeta(answer.result) : answer.result;',
    "return answer.result;",
  ),
  front(
    "E1",
    "a login is passed to an Engine that has none",
    "(this.#parts.speaks && ABOUT_THE_AGENT.has(method))",
    "ABOUT_THE_AGENT.has(method)",
  ),
  front(
    "E1",
    "what the editor asks overtakes what it told",
    'if (message.method.startsWith("_")) await unlessAborted(this.#told, signal);',
    "",
  ),
  front(
    "E1",
    "any number of notifications waits for the Host",
    "if (count >= LIMITS.extensionsWaiting ||",
    "if (",
  ),
  taken(
    "E1",
    "an extension request that was taken back ends as a failure",
    "throw signal.aborted ? RequestError.requestCancelled() : error;",
    "throw error;",
  ),
  taken(
    "E1",
    "the editor is not told that its answer is not wanted any more",
    'this.#asked.get(event.callId)?.abort(new Error("The agent does not wait any more"));',
    "",
  ),
  negotiation(
    "E1",
    "what an Engine says of itself is kept back",
    "...profile.beyond?.capabilities,",
    "",
  ),
  negotiation(
    "E1",
    "metadata of any size is kept for the Engine",
    "return isRecord(meta) ? boundedMeta(meta) : undefined;",
    "return isRecord(meta) ? meta as Meta : undefined;",
  ),

  host(
    "E1",
    "what is about no Session goes to whom came first",
    "return [...this.#outboxes.keys()].at(-1);",
    "return [...this.#outboxes.keys()].at(0);",
  ),
  host(
    "E1",
    "what an Engine says loses its order",
    "const found = this.#found.then(() => this.#target(message));",
    "const found = this.#target(message);",
  ),
  host(
    "E1",
    "what is about a Session goes to anybody where nobody shows it",
    "return viewer !== undefined && this.#outboxes.has(viewer) ? viewer : undefined;",
    "return viewer ?? [...this.#outboxes.keys()].at(-1);",
  ),
  host(
    "E1",
    "an Engine waits for an editor that went away",
    'this.#settle(callId, failure("The editor went away before it answered"));',
    "",
  ),
  host(
    "E1",
    "any editor answers for any other",
    "if (pending.connectionId !== connectionId) {",
    'if (connectionId === "") {',
  ),
  host(
    "E1",
    "an answer of any size passes",
    "if (encodedLength(answer) <= this.#parts.limits.extensionLength) return answer;",
    "if (encodedLength(answer) > 0) return answer;",
  ),
  host(
    "E1",
    "parameters of any size pass",
    "return encodedLength(params) <= this.#parts.limits.extensionLength;",
    "return encodedLength(params) >= 0;",
  ),
  host(
    "E1",
    "an editor is not told that an Engine took its request back",
    'outbox.put({ type: "request_cancelled", callId });',
    "",
  ),
  outbox("E1", "any number of notifications waits", "this.#events.length < extensionsWaiting &&", ""),
  outbox(
    "E1",
    "notifications of any length wait",
    "&& this.#length + length <= extensionsLength;",
    ";",
  ),
  connection(
    "E1",
    "metadata of any size passes",
    "return encodedLength(meta) <= this.#parts.metaLength ? meta : undefined;",
    "return meta;",
  ),
  session(
    "E1",
    "who came last counts more than who presents the Run",
    "if (run.foreground && run.presenter !== undefined) return run.presenter;",
    "if (run.foreground && run.presenter === undefined) break;",
  ),
  session(
    "E1",
    "metadata of a load is lost",
    "this.#binding = { mcpServers, meta };\n    if (!same)",
    "this.#binding = { mcpServers };\n    if (!same)",
  ),

  outward(
    "E1",
    "what an agent says of a Session while it opens it is lost",
    "this.#early.push([method, params]);",
    "",
  ),
  outward(
    "E1",
    "an agent names Sessions as it likes",
    "{ sessionId, params: { ...params, sessionId } };",
    "{ sessionId, params };",
  ),
  agent(
    "E1",
    "an agent hears nothing of a request that was taken back",
    "this.#link.request(method, params, signal)",
    "this.#link.request(method, params)",
  ),
  engine(
    "E1",
    "an agent hears the Host's name of a Session",
    "return await agent.ask(method, { ...params, sessionId }, signal);",
    "return await agent.ask(method, params, signal);",
  ),
  offered(
    "E1",
    "an agent is asked for what it does not have",
    'return method.startsWith("_") || OF_EDITORS.get(method)?.(hello) === true;',
    'return method.startsWith("_") || OF_EDITORS.has(method);',
  ),
  hello(
    "E1",
    "an agent does not hear what its editor said of itself",
    "...(hello?.capabilities !== undefined && { _meta: passable(hello.capabilities) }),",
    "",
  ),
  profile(
    "E1",
    "what an agent says of itself is forgotten",
    "beyond: { capabilities: capabilitiesOf(hello), ...(meta !== undefined && { meta }) },",
    "",
  ),
  commands("E1", "an agent's commands are forgotten", "this.#profile.commanded(commands);", ""),
  setting(
    "E1",
    "metadata of a setting is lost",
    "...(meta !== undefined && { _meta: meta }) };\n      const answer",
    "};\n      const answer",
  ),
  opening(
    "E1",
    "metadata of a resume is lost",
    "{ ...binding, sessionId, ...metaOf(parts.context) }",
    "{ ...binding, sessionId }",
  ),

  logins(
    "E1",
    "ways to log in of unknown kinds are offered",
    'if (!known || typeof id !== "string"',
    'if (typeof id !== "string"',
  ),
  logins(
    "E1",
    "a way to log in by a terminal starts Gangway",
    "args: [...terminal.words(Object.keys(isRecord(login.env) ? login.env : {})), ...args]",
    "args: [...args]",
  ),
  refusal("E1", "an agent's ways to log in are kept back when it wants one", "authMethods: logins,", ""),
  terminal(
    "E1",
    "an agent's own variables count more than those of a login",
    ".filter(([name]) => !variables.includes(name))",
    "",
  ),
  terminal(
    "E1",
    "the code by which a login ends is lost",
    "return signal === null ? code : Math.max(code, BY_SIGNAL);",
    "return signal === null ? 0 : Math.max(code, BY_SIGNAL);",
  ),
  terminal(
    "E1",
    "a signal to a login ends Gangway alone",
    "[signal, () => child.kill(signal)]",
    "[signal, () => Deno.exit(1)]",
  ),
  words(
    "E1",
    "what follows the words of a login is Gangway's",
    "login: { agent, variables, args: args.slice(at + 1) }",
    "login: { agent, variables, args: [] }",
  ),
];
