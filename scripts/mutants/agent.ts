import { type Mutant, planterOf } from "./mutant.ts";

const at = (name: string) => `tests/engine/acp/${name}_test.ts`;
const TURN = at("turn");
const REQUESTS = at("requests");
const LATE = at("late");
const STEERING = at("steering");
const TERMINALS = at("terminals");
const SHOWN = "tests/projection/content_test.ts";
const KEPT = "tests/host/local/content_test.ts";

const content = planterOf("src/engine/acp/content.ts", TURN);
const voices = planterOf("src/engine/acp/voices.ts", TURN);
const turn = planterOf("src/engine/acp/turn.ts", TURN);
const updates = planterOf("src/engine/acp/updates.ts", TURN);
const compactions = planterOf("src/engine/acp/compactions.ts", TURN);
const shape = planterOf("src/engine/acp/shape.ts", TURN);
const questions = planterOf("src/engine/acp/questions.ts", REQUESTS);
const requests = planterOf("src/engine/acp/requests.ts", REQUESTS);
const late = planterOf("src/engine/acp/late.ts", LATE);
const terminals = planterOf("src/engine/acp/terminals.ts", TERMINALS);
const scrollback = planterOf("src/engine/acp/scrollback.ts", TERMINALS);
const tools = planterOf("src/engine/acp/tools.ts", TERMINALS);
const messages = planterOf("src/host/local/messages.ts", KEPT);
const settings = planterOf("src/host/local/settings.ts", KEPT);
const asked = planterOf("src/host/local/questions.ts", KEPT);
const turns = planterOf("src/host/local/turns.ts", KEPT);
const block = planterOf("src/projection/block.ts", SHOWN);
const shown = planterOf("src/projection/turn.ts", SHOWN);
const replay = planterOf("src/projection/replay.ts", SHOWN);
const words = planterOf("src/session/steer.ts", "tests/session/steer_test.ts");

/** Faults of what an agent behind the Host says and asks, from its lines to what is shown of it. */
export const AGENT_MUTANTS: readonly Mutant[] = [
  content("E1", "metadata of a block is lost", "    ...(meta !== undefined && { meta }),\n", ""),
  content("E1", "annotations are lost", "    ...(isRecord(annotations) && { annotations }),\n", ""),
  content("E1", "audio is no content", '    case "audio":\n', ""),
  content(
    "E1",
    "bytes of a resource are taken for its text",
    '...(typeof text === "string" ? { text } : { blob: String(blob) }),',
    "text: String(text ?? blob),",
  ),
  voices(
    "E1",
    "text with other metadata goes on in the same part",
    "if (voice.speaking !== about) {",
    "if (voice.speaking === undefined) {",
  ),
  voices(
    "E1",
    "a block has the id of the text before it",
    "    await this.#end(voice);\n    voice.part++;",
    "    await this.#end(voice);",
  ),
  voices(
    "E1",
    "metadata of text is left out",
    "partId(voice.id, voice.part), channel, text, meta);",
    "partId(voice.id, voice.part), channel, text);",
  ),
  turn(
    "E1",
    "annotated text is plain text",
    " || block.meta !== undefined || block.annotations !== undefined",
    "",
  ),
  turn(
    "E1",
    "metadata of a plan is lost",
    "planOf(update.entries), metaOf(update._meta)",
    "planOf(update.entries)",
  ),
  updates("E1", "compactions are unknown", '  ["compaction_update", "turn"],\n', ""),
  compactions(
    "E1",
    "a compaction's end has no summary",
    'summary !== undefined || status !== "in_progress"',
    "summary !== undefined",
  ),
  shape("E1", "metadata has no bound", "length > 2 && length <= LIMITS.metaBytes", "length > 2"),
  questions(
    "E1",
    "metadata of a permission's answer is lost",
    "    ...(answer?.meta !== undefined && { _meta: answer.meta }),\n",
    "",
  ),
  questions(
    "E1",
    "agreement to a page has values",
    'kind === "form" && { content: answer.values }',
    "{ content: answer.values }",
  ),
  requests(
    "E1",
    "a question that is taken back stays open",
    "turn.sink.ask(question, signal)",
    "turn.sink.ask(question)",
  ),
  requests(
    "E1",
    "a page is told to be done again and again",
    "!this.#pages.delete(elicitationId)",
    "!this.#pages.has(elicitationId)",
  ),
  requests(
    "E1",
    "a page goes to an editor that opens none",
    'if (!(kind === "url" ? urls : forms)) {',
    "if (!(urls || forms)) {",
  ),
  requests(
    "E1",
    "metadata of a call to the editor is left out",
    "meta === undefined ? rest : { ...rest, _meta: meta }",
    "rest",
  ),
  planterOf("src/engine/acp/conversation.ts", LATE)(
    "E2",
    "what comes behind a cancel is shown",
    'if (this.#last === "stopped") return faults.count("idle");',
    "",
  ),
  planterOf("src/engine/acp/conversation.ts", LATE)(
    "E2",
    "what comes behind an answer is dropped",
    "    this.#late.push(update);\n",
    "",
  ),
  planterOf("src/engine/acp/conversation.ts", LATE)(
    "E2",
    "a prompt begins beside what was said before it",
    "    this.#late?.end();\n    this.#turn = work;",
    "    this.#turn = work;",
  ),
  planterOf("src/engine/acp/conversation.ts", STEERING)(
    "E1",
    "words go to whatever Turn is at work",
    " || this.#turn.turn.turnId !== turnId",
    "",
  ),
  planterOf("src/engine/acp/conversation.ts", STEERING)(
    "E1",
    "words that were not wanted count as taken",
    "return taken !== false;",
    "return taken !== undefined;",
  ),
  late(
    "E2",
    "news of a tool of another Run makes a card",
    'return sessionUpdate === "tool_call_update" && !this.#tools.has(toolCallId);',
    "return false;",
  ),
  late("E2", "what came before the Run was open is lost", "this.#early.splice(0)", "this.#early.splice(1)"),
  terminals(
    "E3",
    "a released terminal runs on",
    "        terminal?.kill();\n        this.#open.delete",
    "        this.#open.delete",
  ),
  terminals(
    "E3",
    "terminals outlive the Session",
    "    for (const terminal of this.#open.values()) terminal.kill();\n",
    "",
  ),
  terminals("E1", "a line is taken for a program", '["sh", "-c", command]', "[command]"),
  terminals(
    "E1",
    "arguments are read by a shell",
    "[command, ...words]",
    '["sh", "-c", [command, ...words].join(" ")]',
  ),
  terminals(
    "E1",
    "the agent's own limit does not count",
    "numberOf(params.outputByteLimit) ?? LIMITS.toolOutputLength",
    "LIMITS.toolOutputLength",
  ),
  scrollback(
    "E1",
    "output is cut inside of a character",
    "while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from++;",
    "",
  ),
  scrollback("E1", "that output was cut is not said", "    this.#truncated = true;\n", ""),
  tools(
    "E1",
    "a tool does not show what its terminal here writes",
    "await terminal.hear(hearer);",
    "await Promise.resolve();",
  ),
  tools(
    "E1",
    "a terminal that is shown twice is heard by the first tool only",
    "shown?.has(String(terminalId)) === true) continue;",
    "shown !== undefined || this.#shown.size > 0) continue;",
  ),
  tools(
    "E1",
    "a terminal here is named to an editor",
    "content: alone ? [] : content.map",
    "content: content.map",
  ),
  planterOf("src/engine/acp/process.ts", at("killed"))(
    "E2",
    "an agent that was killed is said to have ended by itself",
    "if (signal > 0 && signal < 32) {",
    "if (signal > 32) {",
  ),
  messages(
    "E1 H1",
    "metadata of text is not kept",
    '    if (meta !== undefined) this.#record(messageId, { kind: "content", channel, meta });\n',
    "",
  ),
  messages(
    "E1",
    "a large block goes into a frame",
    "if (body.length <= BLOCK_LENGTH)",
    "if (body.length > 0)",
  ),
  messages("E1", "blocks have no bound", "boundedBlock(wanted, limits.imageBytes)", "wanted"),
  messages(
    "E1 H1",
    "an id is used again for a block",
    "if (this.#open.has(contentId) || this.#ended.has(contentId)) {",
    "if (this.#open.has(contentId)) {",
  ),
  settings(
    "E1 G1",
    "metadata stays with what came without any",
    "    this.#note({ metas: { ...others, ...(meta !== undefined && { [of]: meta }) } });\n",
    "    this.#note({ metas: { ...this.#info.metas, ...(meta !== undefined && { [of]: meta }) } });\n",
  ),
  asked(
    "I4 E1",
    "a question that is taken back is not closed",
    '    this.#close(interactionId, open, "withdrawn");\n',
    "",
  ),
  turns(
    "E2",
    "who went away shows what is said between Turns",
    "if (this.#latest?.presenter === connectionId) {",
    "if (this.#latest === undefined) {",
  ),
  block("E1", "metadata of a block is not shown", "${metaMember(block.meta)}}`;", "}`;"),
  block(
    "E1",
    "a part has an id of its own",
    "chunkStart(id, channel)",
    'chunkStart(id.replace("\\u001f", "-"), channel)',
  ),
  shown(
    "E1 H1",
    "a block is shown again by its row",
    "    if (this.#contents.has(row.id)) return;\n",
    "",
  ),
  shown(
    "E1 R1",
    "a block that was left out is not asked for",
    "return { updates: out, gap: true };",
    "return stepOf(out);",
  ),
  replay(
    "E1 T1",
    "metadata goes on to the next message",
    'this.#described?.id === row.id ? metaMember(this.#described.meta) : ""',
    "metaMember(this.#described?.meta)",
  ),
  words("P6", "every prompt is words for the Turn at work", " &&\n    own.steer === true", ""),
  words(
    "P6",
    "words that were not taken are an error",
    "return false;\n        throw error;",
    "throw error;",
  ),
];
