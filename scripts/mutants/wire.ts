import { type Mutant, planterOf } from "./mutant.ts";

const wire = (name: string, ...tests: readonly string[]) =>
  planterOf(`src/host/wire/${name}.ts`, ...tests.map((test) => `tests/host/wire/${test}_test.ts`));

const outlet = wire("outlet", "recovery");
const inlet = wire("inlet", "hostile");
const requests = wire("requests", "recovery");
const server = wire("server", "recovery");
const greeting = wire("server", "hostile");
const peer = wire("peer", "hostile");
const link = wire("link", "hostile");

/** Faults of `src/host/wire/`. */
export const WIRE_MUTANTS: readonly Mutant[] = [
  outlet(
    "R1 W3",
    "what was sent and never came is not sent again",
    "if (last > have) link.send(line);",
    "if (last < have) link.send(line);",
  ),
  outlet(
    "R1",
    "frames are fetched without end for a consumer that takes none",
    "if (this.#length >= windowLength) {",
    "if (this.#length >= Infinity) {",
  ),
  outlet(
    "R1",
    "what was taken stays in the window",
    "      this.#length -= line.length;\n",
    "",
  ),
  inlet(
    "W3",
    "items that come twice are handed out twice",
    "fresh === 0 ? whole : whole.slice(fresh)",
    "whole",
  ),
  inlet(
    "W2",
    "a gap in a stream is passed over",
    "    if (first > this.#have + 1) throw new ProtocolError(`items of stream ${this.stream} are missing`);\n",
    "",
  ),
  inlet(
    "W2",
    "a frame that is malformed is handed out",
    "      if (fault !== undefined) {\n",
    "      if (fault === null) {\n",
  ),
  inlet(
    "W2",
    "a frame of a type to come ends its stream",
    "      if (this.#options.unknown?.(item) === true) continue;\n",
    "",
  ),
  wire("packing", "shapes")(
    "R1",
    "text goes on at the offset of the text before",
    "offset: offset + before.text.length, text }",
    "offset, text }",
  ),
  wire("frames", "shapes")(
    "W2",
    "a delta without a message's id is let in",
    'return typeof value.messageId === "string" && isWhole(value.offset)',
    "return isWhole(value.offset)",
  ),
  requests(
    "W3",
    "a once operation whose answer was lost is sent again",
    'if (request.dispatch === "unknown" && ONCE.has(request.op)) ',
    "if (request.op === undefined) ",
  ),
  requests(
    "W3",
    "an operation by key whose answer was lost is not sent again",
    "this.#fail(request, this.#lost(request));\n      else this.#waiting.push(request);",
    "this.#fail(request, this.#lost(request));",
  ),
  requests(
    "W3",
    "what has not left counts as sent",
    '        dispatch: "not_sent",\n        outgoing',
    '        dispatch: "unknown",\n        outgoing',
  ),
  requests(
    "W3",
    "a request without an answer waits for ever",
    "if (request.until <= now) this.#overdue(request);",
    "if (request.until < 0) this.#overdue(request);",
  ),
  wire("served_streams", "recovery")(
    "R2",
    "an opening that is asked for again opens another Subscription",
    "const known = this.#streams.get(stream);",
    "const known = this.#streams.get(-1);",
  ),
  wire("served_streams", "recovery")(
    "R2 W3",
    "a connection that comes back finds none of its Subscriptions",
    "if (from === undefined || outlet?.follows(from) === false) ",
    "if (from === undefined || outlet?.follows(from) !== undefined) ",
  ),
  wire("served_streams", "recovery")(
    "R4",
    "a page of the transcript is as long as is asked for",
    "Math.min(request.maxLength, this.#limits.pageLength)",
    "request.maxLength",
  ),
  wire("handlers", "recovery")(
    "R4",
    "an Artifact is sent as a whole",
    "Math.min(of.length, limits.partBytes)",
    "of.length",
  ),
  wire("client", "recovery")(
    "R4",
    "an Artifact ends with its first part",
    "      if (part.length < length || got >= request.length) break;\n",
    "      break;\n",
  ),
  wire("client", "hostile")(
    "R3",
    "another process is believed that streams go on",
    "same ? welcome.streams : []",
    "welcome.streams",
  ),
  wire("client", "recovery")(
    "W3",
    "a Host that has forgotten the connection is not told what Sessions are bound to",
    "    if (before !== undefined && !same) this.#forgotten();\n",
    "",
  ),
  wire("remote_streams", "recovery")(
    "R3",
    "a Subscription of a process that is gone waits for ever",
    "      } else lose();\n",
    "      }\n",
  ),
  wire("tether", "recovery")(
    "W3",
    "every greeting is the first one",
    "this.#events.hello(++this.#attempt)",
    "this.#events.hello(1)",
  ),
  server(
    "W1 W3",
    "a lost connection is released at once",
    "if (!peer.resumable || this.#closing !== undefined) return",
    "if (peer !== undefined) return",
  ),
  server(
    "W1",
    "a lost connection is kept for ever",
    "back.signal).then(() => this.#release(peer), () => {});",
    "back.signal).then(() => {}, () => {});",
  ),
  server(
    "W3",
    "a connection that comes back too late is told that it was resumed",
    "peer.welcomed && hello.resume?.instance",
    "hello.resume?.instance",
  ),
  greeting(
    "W2",
    "a greeting that was overtaken takes the connection",
    "if (attempt <= known.attempt) throw",
    "if (attempt < 0) throw",
  ),
  greeting(
    "W2",
    "whoever knows a connection's name may take it",
    "if (known.key !== key) throw",
    "if (known.key === undefined) throw",
  ),
  greeting(
    "W2",
    "a client of another version is welcomed",
    "    if (version === undefined) {\n",
    "    if (version === null) {\n",
  ),
  greeting(
    "W2",
    "whoever does not greet is kept",
    'if (state === "new" || state === "greeting") link.cut',
    'if (state === "refused") link.cut',
  ),
  peer(
    "W2",
    "operations of features that were not agreed on are done",
    "if (!isOperation(op) || !this.#offers(op)) {",
    "if (!isOperation(op)) {",
  ),
  peer(
    "W2",
    "any number of requests is at work",
    "if (this.#working >= this.#limits.requests) {",
    "if (this.#working < 0) {",
  ),
  peer(
    "W2",
    "what an operation is asked with is not looked at",
    "    if (!parsed.success) {\n",
    "    if (parsed === undefined) {\n",
  ),
  peer(
    "W2",
    "a malformed request is not answered",
    "      if (read.id === undefined) return this.#fault(link, read.fault);\n      return",
    "      if (read.id === undefined) return this.#fault(link, read.fault);\n      if (read.fault !== undefined) return;\n      return",
  ),
  link(
    "W2",
    "a peer without a sign of life is kept",
    "if (now - this.#heard >= deadMs) ",
    "if (now - this.#heard >= Infinity) ",
  ),
  link(
    "W2",
    "a peer that does not read is read without end",
    "        if (room !== undefined) await room;\n",
    "",
  ),
  requests(
    "W3",
    "a request that waits for an agent is given up like any other",
    "      : PATIENT.has(op)\n",
    "      : ONCE.has(op)\n",
  ),
  requests(
    "W3",
    "a request that waits for an agent waits as long for a Host that is gone",
    "Math.min(request.until, this.#clock.now() + this.#limits.requestMs)",
    "request.until",
  ),
];
