import { type Mutant, planterOf } from "./mutant.ts";

const CARDS = "tests/projection/cards_test.ts";
const VIEW = "tests/projection/view_test.ts";
const OUTPUT = "tests/projection/output_test.ts";
const PACING = "tests/projection/pacing_test.ts";
const REDACT = "tests/projection/redact_test.ts";
const BUDGET = "tests/projection/budget_test.ts";
const SHOWN = "tests/projection/shown_test.ts";
const BYTES = "tests/projection/bytes_test.ts";
const RECORD = "tests/projection/record_test.ts";
const REPLAY = "tests/projection/replay_test.ts";

const limits = planterOf("src/limits.ts", VIEW, CARDS);
const card = planterOf("src/projection/card.ts", CARDS);
const budget = planterOf("src/projection/card.ts", BUDGET);
const cards = planterOf("src/projection/tool_cards.ts", CARDS);
const overfull = planterOf("src/projection/tool_cards.ts", BUDGET);
const turn = planterOf("src/projection/turn.ts", CARDS);
const cutShort = planterOf("src/projection/cut_short.ts", CARDS);
const capacity = planterOf("src/projection/turn.ts", BUDGET);
const wire = planterOf("src/projection/card_wire.ts", CARDS);
const pace = planterOf("src/projection/card_wire.ts", PACING);
const paced = planterOf("src/projection/tool_cards.ts", PACING);
const head = planterOf("src/projection/card_view.ts", CARDS);
const view = planterOf("src/projection/card_view.ts", VIEW);
const shown = planterOf("src/projection/card_view.ts", REDACT);
const output = planterOf("src/projection/output.ts", OUTPUT);
const cut = planterOf("src/projection/cut.ts", OUTPUT);
const ends = planterOf("src/projection/cut.ts", VIEW);
const proposed = planterOf("src/projection/card_view.ts", SHOWN);
const secrets = planterOf("src/model/redact.ts", REDACT);
const hidden = planterOf("src/projection/cut.ts", REDACT);
const plan = planterOf("src/projection/plan.ts", REDACT);
const notice = planterOf("src/projection/notice.ts", REDACT);
const log = planterOf("src/cli/log.ts", "tests/cli/log_test.ts");
const diff = planterOf("src/projection/diff.ts", VIEW);
const recorded = planterOf("src/projection/card.ts", RECORD);

/** Faults of tool cards, in `src/projection/`. */
export const CARD_MUTANTS: readonly Mutant[] = [
  wire(
    "K1",
    "each snapshot is another tool_call",
    'encoded(first ? "tool_call" : "tool_call_update"',
    'encoded("tool_call"',
  ),
  cards(
    "K1",
    "a late start begins another card",
    "    const entry = this.#entry(frame.toolCallId);\n    const { card, wire } = entry;",
    '    if (frame.type === "tool_start") this.#entries.delete(frame.toolCallId);\n' +
      "    const entry = this.#entry(frame.toolCallId);\n    const { card, wire } = entry;",
  ),
  cards(
    "K1",
    "a start alone comes after what follows it",
    "    if (frame.toolCallId !== this.#bare?.card.id) this.flushBare(now, out);",
    "",
  ),
  turn(
    "K1",
    "a message overtakes the start of a tool",
    "        this.#cards.flushBare(now, out);\n        const message = this.#message(frame.messageId, frame.channel);\n" +
      "        if (message === undefined) return this.#revised(frame.messageId, now, out);\n" +
      "        return this.#told(message, message.delta(",
    "        const message = this.#message(frame.messageId, frame.channel);\n" +
      "        if (message === undefined) return this.#revised(frame.messageId, now, out);\n" +
      "        return this.#told(message, message.delta(",
  ),
  card("K1", "progress is not shown", "    this.progress = message;\n", ""),
  card(
    "K1",
    "who called a tool is lost",
    '    this.parent = parent;\n    return "head";',
    '    return "head";',
  ),
  card(
    "K1",
    "a tool with its whole input stays pending",
    "      this.#worksFrom = now + PENDING_MS;\n    }",
    "      this.#worksFrom = Infinity;\n    }",
  ),
  planterOf("src/projection/output.ts", CARDS)(
    "K1",
    "a snapshot holds the newest piece only",
    'plainText(this.#chunks.slice(this.#first).join(""))',
    'plainText(this.#chunks.at(-1) ?? "")',
  ),
  output("K1", "output can end its code block", '"`".repeat(longest + 1)', '"```"'),
  output("K1", "control sequences are shown", 'text.replace(ESCAPES, "").split', "text.split"),

  head("K2", "a preview looks like the input", "`${words} (preview)`", "words"),
  head(
    "K2",
    "raw input is shown while it is written",
    "input.complete && !input.sensitive;",
    "!input.sensitive;",
  ),
  head(
    "K2",
    "raw input is shown although it is sensitive",
    "input.complete && !input.sensitive;",
    "input.complete;",
  ),
  card(
    "K2",
    "a preview replaces the complete input",
    "if (this.#inputComplete && (!input.complete || this.end !== undefined))",
    "if (this.#inputComplete && this.end !== undefined)",
  ),
  cards(
    "K2",
    "a sensitive row is shown raw",
    "entry.card.takeRecord(safe, row, now)",
    "entry.card.takeRecord(record, row, now)",
  ),
  planterOf("src/projection/tool_cards.ts", OUTPUT)(
    "K2",
    "withheld output is passed over",
    'frame.redacted && frame.text === "" ? "[redacted]" : frame.text',
    "frame.text",
  ),
  planterOf("src/projection/replay.ts", RECORD)(
    "K2",
    "a sensitive row is replayed raw",
    "row.sensitive ? sensitive(record) : record",
    "record",
  ),
  limits("K2", "raw input has no limit", "rawBytes: 8 * 1024", "rawBytes: 32 * 1024"),
  shown(
    "K2",
    "a title keeps its secrets",
    "oneLine(redact(input.title.slice(0, WORDS)),",
    "oneLine(input.title.slice(0, WORDS),",
  ),
  shown(
    "K2",
    "raw input keeps its secrets",
    "rawValue(input.raw, style.redact)",
    "JSON.stringify(input.raw)",
  ),
  shown("K2", "raw output keeps its secrets", "withinRaw(redactJson(raw, redact))", "withinRaw(raw)"),
  shown("K2", "live output keeps its secrets", "style.redact(output.text())", "output.text()"),
  shown(
    "K2",
    "progress keeps its secrets",
    "redact(card.progress.slice(0, WORDS))",
    "card.progress.slice(0, WORDS)",
  ),
  shown(
    "K2",
    "the new side of a change keeps its secrets",
    "const after = redact(diff.newText);",
    "const after = diff.newText;",
  ),
  shown(
    "K2",
    "the old side of a change keeps its secrets",
    "null : redact(diff.oldText);",
    "null : diff.oldText;",
  ),
  shown(
    "K2",
    "hunks keep their secrets",
    "keepEnds(hunks, bytes, redact)",
    "keepEnds(hunks, bytes, (text) => text)",
  ),
  hidden(
    "K2",
    "a result's text keeps its secrets",
    "redact(long ? text.slice(0, LIMITS.cardLength) : text)",
    "(long ? text.slice(0, LIMITS.cardLength) : text)",
  ),
  plan(
    "K2",
    "a plan keeps its secrets",
    "redact(content.slice(0, 8 * LIMITS.commandLength))",
    "content.slice(0, 8 * LIMITS.commandLength)",
  ),
  notice("K2", "a notice's title keeps its secrets", "redact(notice.title)", "notice.title"),
  notice(
    "K2",
    "a notice's text keeps its secrets",
    "redact(text.slice(0, LIMITS.cardLength))",
    "text.slice(0, LIMITS.cardLength)",
  ),
  secrets(
    "K2",
    "values under the names of secrets pass",
    "NAMES.test(name) && value !== null",
    "value === undefined",
  ),
  secrets("K2", "lists are not looked into", "value.map((item) => within(item, redact, depth - 1))", "value"),
  planterOf("src/projection/turn.ts", REDACT)(
    "K2",
    "nothing is redacted unless somebody asks for it",
    "options.redact ?? redactSecrets",
    "options.redact ?? ((text) => text)",
  ),
  log(
    "K2",
    "the sentences of the log keep their secrets",
    "oneLine(redactSecrets(message))",
    "oneLine(message)",
  ),
  log("K2", "the data of the log keeps its secrets", "redactObject(data, redactSecrets)", "data"),

  card(
    "K3",
    "a result does not replace what was live",
    "    this.result = result;\n    if (this.stage",
    "    if (this.stage",
  ),
  cards(
    "K3",
    "an omitted content clears the display",
    "frame.contentOmitted ? undefined : frame.result",
    'frame.contentOmitted ? { status: frame.status, content: [{ kind: "text", text: "omitted" }], diffs: [] } : frame.result',
  ),
  card(
    "K3",
    "a row's content is not taken",
    'this.result = this.stage === "live" ? withoutTerminals(record.result) : record.result;',
    "",
  ),
  card(
    "K3",
    "a row does not bring what was omitted",
    '      this.stage = "authoritative";\n    }\n    this.#weigh();\n    return "all";',
    '      this.stage = "authoritative";\n    }\n    this.#weigh();\n    return "nothing";',
  ),
  head(
    "K3",
    "a result without content clears what the tool wrote",
    "settled.length > 0 ? settled",
    "card.result !== undefined ? settled",
  ),

  card(
    "K4",
    "late output is shown on an ended card",
    'if (this.end !== undefined) return "nothing";\n    this.output ??=',
    "this.output ??=",
  ),
  card(
    "K4",
    "late progress changes an ended card",
    "if (this.end !== undefined || this.progress === message)",
    "if (this.progress === message)",
  ),
  card(
    "K4",
    "a later result changes the status",
    "    this.end ??= endOf(status);",
    "    this.end = endOf(status);",
  ),
  recorded(
    "K4",
    "a row changes the status",
    "this.end ??= endOf(record.result.status);",
    "this.end = endOf(record.result.status);",
  ),
  card(
    "K4",
    "a row that still grows reopens a card",
    '} else if (this.end !== undefined) {\n      return "nothing";\n    }',
    "}",
  ),
  card(
    "K4",
    "a frame takes the authoritative content's place",
    'if (this.stage === "authoritative" && (sha256',
    'if (this.stage === "preview" && (sha256',
  ),

  output("K5", "old pieces go uncounted", "    this.#dropped += oldest.length;\n", ""),
  planterOf("src/projection/output.ts", BYTES)(
    "K5",
    "the cut part of a piece goes uncounted",
    "      this.#dropped += over;\n",
    "",
  ),
  output("K5", "the cut part of one long piece goes uncounted", "      this.#dropped += cut;\n", ""),
  output(
    "K5",
    "a card keeps any number of pieces",
    "while (this.#length > LIMITS.cardLength || this.#chunks.length - this.#first > LIMITS.cardChunks) {",
    "while (this.#length > LIMITS.cardLength) {",
  ),
  output(
    "K5",
    "a card keeps any number of characters",
    "while (this.#length > LIMITS.cardLength || this.#chunks",
    "while (this.#chunks",
  ),
  output("K5", "missing pieces are not marked", "if (lost > 0) this.#add", "if (lost > 1e9) this.#add"),
  output("K5", "a piece that came before is taken again", "    if (seq < this.#next) return false;\n", ""),
  output(
    "K5",
    "what the Host dropped goes uncounted",
    "    this.#dropped = dropped;",
    "    this.#dropped = 0;",
  ),
  cut(
    "K5",
    "what was cut is not said",
    "return hidden === 0 ? fine :",
    "return hidden >= 0 ? fine.slice(start) :",
  ),
  cut(
    "K5",
    "what was dropped before the cut is not counted",
    "const hidden = dropped + start;",
    "const hidden = start;",
  ),

  overfull("K6", "a prompt shows any number of tools", "this.#tools > LIMITS.promptTools || ", ""),
  overfull("K6", "a prompt shows any number of characters", " || this.#length > LIMITS.promptToolLength", ""),
  cards("K6", "an ended card keeps its payload for dialogs", "      entry.card.free();\n", ""),
  capacity("K6", "too many tools are another fault", '"tool_presentation_capacity",', '"missing_result",'),
  capacity(
    "K6",
    "too much of tools goes on without a fault",
    'this.#cards.overfull ? this.#overfull(now, out) : stepOf(out);\n      case "plan"',
    'stepOf(out);\n      case "plan"',
  ),
  budget(
    "K6",
    "a chatty tool counts all that it wrote",
    "Math.min(LIMITS.cardLength, Math.max(live, settled))",
    "Math.max(live, settled, this.output?.total ?? 0)",
  ),
  planterOf("src/projection/tool_cards.ts", REPLAY)(
    "K6",
    "what a replay showed counts against the prompt",
    "    this.#tools = this.#length = 0;\n",
    "",
  ),
  planterOf("src/projection/turn.ts", REPLAY)(
    "K6",
    "the prompt's budget holds during a replay",
    'budget === "prompt",',
    "true,",
  ),

  card(
    "K7",
    "an interrupted tool loses what it showed",
    '    this.end = { status: "failed", note };',
    '    this.output = undefined;\n    this.end = { status: "failed", note };',
  ),
  card(
    "K7",
    "an interrupted tool says nothing",
    'this.end = { status: "failed", note };',
    'this.end = { status: "failed" };',
  ),
  card(
    "K7",
    "an interrupted tool looks completed",
    'this.end = { status: "failed", note };',
    'this.end = { status: "completed", note };',
  ),
  turn(
    "K7",
    "any missing row fails a stopped prompt",
    'end.how === "completed" ? this.#missing() : undefined',
    "this.#missing()",
  ),
  turn(
    "K7",
    "a missing announced result does not matter",
    'end.how === "completed" ? this.#missing() : undefined',
    "undefined as string | undefined",
  ),
  card(
    "K7 P4",
    "a row that was not announced takes the announced one's place",
    'if (this.announced !== undefined && this.announced !== row.sha256) return "nothing";\n      if',
    "if",
  ),
  card(
    "K7",
    "a row that nobody announced is missed",
    "return this.announced !== undefined && this.announced !== this.durable?.sha256;",
    "return this.end !== undefined && (this.announced === undefined || this.announced !== this.durable?.sha256);",
  ),
  turn(
    "K7",
    "a damaged row counts as the result",
    "row.complete && digestOf(text) !== row.sha256",
    "row.complete && digestOf(text) === row.id",
  ),

  pace(
    "K8",
    "snapshots are not paced",
    "const INTERVAL_MS = 1000 / LIMITS.cardSnapshotsPerSecond;",
    "const INTERVAL_MS = 0;",
  ),
  pace(
    "K8",
    "the first snapshot waits",
    "if (!this.#called) return -Infinity;",
    "if (!this.#called) return INTERVAL_MS;",
  ),
  paced(
    "K8",
    "the last snapshot is paced like the others",
    "entry.wire.encode(now, all || ended)",
    "entry.wire.encode(now, all)",
  ),
  paced(
    "K8",
    "the end waits for the next snapshot",
    "(card.end !== undefined || wire.dueAt() <= now)",
    "wire.dueAt() <= now",
  ),
  pace(
    "K8",
    "a chatty tool costs what it likes",
    "return LIMITS.cardWireRatio * this.#produced",
    "return 10 * this.#produced",
  ),
  pace("K8", "what was sent is not counted", " - this.#spent - this.#estimate();", " - this.#estimate();"),
  pace(
    "K8",
    "a snapshot between is whole, whatever it costs",
    "whole ? room : Math.min(room, this.#room())",
    "room",
  ),
  pace("K8", "what is new stays unseen", "const STALE_MS = 3000;", "const STALE_MS = 3_000_000;"),
  pace(
    "K8",
    "members that did not change are sent again",
    "first ? head : head.filter(([name, json]) => this.#sent.get(name) !== mark(json));",
    "head;",
  ),
  wire(
    "K6",
    "a row in agreement is shown again",
    'if (first ? content === "[]" : this.#sent.get("content") === mark(content)) content = undefined;',
    "",
  ),
  planterOf("src/projection/card_view.ts", BYTES)(
    "K8",
    "a card takes a whole line",
    "LIMITS.cardBytes - CONTENT_BYTES",
    "LIMITS.outputLineBytes - CONTENT_BYTES",
  ),
  planterOf("src/projection/card_wire.ts", VIEW, PACING)(
    "K8",
    "content takes more than a card may",
    "return LIMITS.cardBytes - FRAME_BYTES",
    "return LIMITS.outputLineBytes - FRAME_BYTES",
  ),
  ends("K8", "a long text loses its end", "\\n${tail.slice(start)}`;", "`;"),
  ends(
    "K8",
    "what lies between the ends goes uncounted",
    "`${head.slice(0, end)}\\n[${hidden} characters not shown]\\n",
    "`${head.slice(0, end)}\\n",
  ),

  card(
    "K9",
    "a cancelled tool does not say so",
    '{ status: "failed", note: "Cancelled: the tool was stopped before it finished" }',
    '{ status: "failed" }',
  ),
  card(
    "K9",
    "a cancelled tool looks completed",
    '{ status: "failed", note: "Cancelled:',
    '{ status: "completed", note: "Cancelled:',
  ),
  turn(
    "K9",
    "the end leaves cards open",
    "    this.#cards.interrupt(CUT_SHORT[end.how], true, now, out);\n",
    "",
  ),
  cutShort(
    "K9",
    "a stopped Turn's tools look interrupted",
    'stopped: "Cancelled: the',
    'stopped: "Interrupted: the',
  ),
  turn(
    "K9",
    "a fault leaves cards open",
    '    this.#cards.interrupt(\n      "Interrupted: the prompt failed before the end of this tool was shown",\n      false,\n      now,\n      out,\n    );\n',
    "",
  ),
  cards(
    "K9 I9",
    "a question about no tool stays open",
    'if (entry.question) entry.wire.note(entry.card.takeResult("completed", undefined, undefined));',
    "",
  ),

  view(
    "K10",
    "changes are never shown as changes",
    "if (fits(block, room)) return block;\n  }\n  if (length",
    "}\n  if (length",
  ),
  view(
    "K10",
    "a new file has an invented old text",
    'before === null ? "null" : jsonText(before)',
    'jsonText(before ?? "")',
  ),
  view(
    "K10",
    "a relative change is shown as one of a file",
    "length < room && isAbsolute(diff.path)",
    "length < room",
  ),
  view("K10", "relative locations are shown", "    if (!isAbsolute(path)) continue;\n", ""),
  view("K10", "a location's line is another one", `\`,"line":\${line}\``, `\`,"line":\${line + 1}\``),
  view(
    "K10",
    "the kind is left out",
    'if (input !== undefined) members.push(["kind", `"${input.kind}"`]);',
    "",
  ),
  view(
    "K10",
    "the exit code is left out",
    "if (card.result?.exitCode !== undefined) notes.push(`Exit code ${card.result.exitCode}`);",
    "",
  ),
  head(
    "K10",
    "terminals go to an editor without them",
    'part.kind !== "terminal" || style.terminal',
    'part.kind !== "link" || true',
  ),
  card(
    "K10",
    "a terminal of the past is shown",
    'this.stage === "live" ? withoutTerminals(record.result) : record.result',
    "record.result",
  ),
  view("K10", "an image has no limit", "whole !== undefined && whole <= pictures", "whole !== undefined"),
  view(
    "K10",
    "what follows the first item is left out",
    "blocks.push(block);\n  }",
    "blocks.push(block);\n    break;\n  }",
  ),
  proposed(
    "K10",
    "what a tool proposes is not shown",
    "const blocks = proposal === undefined ? [] : bodyBlocks(proposal, style, half, images);",
    "const blocks: string[] = [];",
  ),
  proposed(
    "K8",
    "a large proposal leaves no room for output",
    'const half = written === "" ? room : room >> 1;',
    "const half = room;",
  ),
  planterOf("src/projection/card.ts", SHOWN)(
    "K10",
    "a terminal of another Client is shown while its tool works",
    "this.input = told ? record.input : inputWithoutTerminals(record.input);",
    "this.input = record.input;",
  ),
  planterOf("src/projection/card.ts", SHOWN)(
    "K10",
    "another proposal is not shown",
    "if (this.end !== undefined || (input.shown === shown && input.terminalId === terminalId)) return",
    "if (this.end !== undefined || shown !== undefined || input.terminalId === terminalId) return",
  ),
  diff(
    "K10",
    "one changed line makes all between two changes new",
    "shortest(before.slice(start, oldEnd), after.slice(start, newEnd), start) ?? whole",
    "whole",
  ),
  diff(
    "K10",
    "line ends are shown on every changed line",
    '${ends && line.endsWith("\\r\\n") ? "␍" : ""}',
    '${line.endsWith("\\r\\n") ? "␍" : ""}',
  ),
  diff("K10", "a changed line end is not shown", '${ends && line.endsWith("\\r\\n") ? "␍" : ""}', ""),
  diff("K10", "hunks count lines from 0", "count === 1 ? `${from + 1}`", "count === 1 ? `${from}`"),

  cards(
    "I9",
    "a dialog comes before its card",
    "    if (entry.holds === 0) this.#send(entry, now, out);\n",
    "",
  ),
  cards(
    "I9",
    "a card changes while its dialog is open",
    "if (entry.holds === 0 && (card.end !== undefined",
    "if ((card.end !== undefined",
  ),
  cards(
    "I9",
    "a snapshot that is due goes out during a dialog",
    "if (entry.holds === 0 && entry.wire.dueAt() <= now)",
    "if (entry.wire.dueAt() <= now)",
  ),
  cards(
    "I9",
    "the first of two dialogs releases the card",
    "entry.holds === 0 || --entry.holds > 0) return;",
    "entry.holds-- === 0) return;",
  ),
  cards("I9", "a dialog's words stay on the card", "    if (!entry.freed) entry.wire.unsettle();\n", ""),
  cards(
    "I9",
    "a card stays as it was when the dialog is over",
    "    this.#send(entry, now, out, true);\n",
    "",
  ),
  cards("I9", "a question about no tool has no card", "entry.card.takeQuestion(question);", ""),
];
