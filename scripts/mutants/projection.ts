import { type Mutant, planterOf } from "./mutant.ts";

const MESSAGE = "tests/projection/message_test.ts";
const REPLAY = "tests/projection/replay_test.ts";
const SESSION = "tests/projection/session_updates_test.ts";
const CARDS = "tests/projection/cards_test.ts";
const BYTES = "tests/projection/bytes_test.ts";
const RECORD = "tests/projection/record_test.ts";
const PLAN = "tests/projection/plan_test.ts";

const message = planterOf("src/projection/message.ts", MESSAGE);
const encode = planterOf("src/projection/encode.ts", MESSAGE);
const turn = planterOf("src/projection/turn.ts", MESSAGE);
const joined = planterOf("src/projection/card.ts", CARDS);
const output = planterOf("src/projection/output.ts", CARDS);
const replay = planterOf("src/projection/replay.ts", REPLAY);
const user = planterOf("src/projection/user_message.ts", REPLAY);
const bodies = planterOf("src/projection/bodies.ts", REPLAY);
const plan = planterOf("src/projection/plan.ts", PLAN);
const notices = planterOf("src/projection/notices.ts", PLAN);
const notice = planterOf("src/projection/notice.ts", PLAN);
const session = planterOf("src/projection/session_updates.ts", SESSION);
const config = planterOf("src/projection/config.ts", SESSION);

/** Faults of what is shown but tool cards, in `src/projection/`. */
export const PROJECTION_MUTANTS: readonly Mutant[] = [
  message(
    "T1",
    "chunks have an id of their own",
    "JSON.stringify(messageIdOf(id))",
    "JSON.stringify(`${id}.`)",
  ),
  message(
    "T1",
    "thinking is shown as text",
    'thinking: "agent_thought_chunk"',
    'thinking: "agent_message_chunk"',
  ),
  message(
    "T1",
    "a longer replay is sent as a whole",
    "this.#append(text.slice(known), meta, out);",
    "this.#append(text, meta, out);",
  ),
  message(
    "T1",
    "an equal replay fails the prompt",
    'if (known >= text.length || this.#phase === "superseded") return "fine";\n    if (this.#phase === "complete")',
    'if (known > text.length || this.#phase === "superseded") return "fine";\n    if (this.#phase === "complete")',
  ),
  message(
    "T1 R1",
    "a delta beyond what was shown is dropped",
    'if (known < 0) return "gap";',
    'if (known < 0) return "fine";',
  ),
  message("T1 R1", "a delta beyond what was shown is shown", '    if (known < 0) return "gap";\n', ""),

  message(
    "T2",
    "another text of the same length is taken for the same",
    "if (length !== this.#length || this.sha256 !== sha256)",
    "if (length !== this.#length)",
  ),
  message(
    "T2",
    "cleared text begins anew",
    'if (this.#length - this.#half.length > 0) return "revised";',
    "",
  ),
  message(
    "T2",
    "text goes on after its end",
    'if (this.#phase === "complete") return "revised";\n    if (known < 0)',
    "if (known < 0)",
  ),
  message(
    "T2",
    "a row that begins differently goes on",
    'if (comparison.digest.hex() !== comparison.expected) return "revised";',
    "",
  ),
  message(
    "T2",
    "a row goes on after the end",
    'if (this.#phase === "complete") return "revised";\n    this.#append(known === 0',
    "this.#append(known === 0",
  ),
  message(
    "T2",
    "a shorter row is taken",
    'if (row.length < this.#length && shorter) return "fine";',
    'if (row.length < this.#length) return "fine";',
  ),
  turn("T2", "a message changes its channel", "message.channel === channel ? message : undefined", "message"),
  turn("T2", "the fault does not stay", "    this.#over = { updates: [], fault, gap: false };\n", ""),
  turn(
    "T2",
    "the fault has another code",
    '"unsupported_stream_revision",\n      `The agent',
    '"missing_result",\n      `The agent',
  ),

  message("T3", "the end of a superseded message still counts", '    this.#phase = "superseded";\n', ""),
  message(
    "T3",
    "the row of a superseded message is held against it",
    'row(row: Row, shorter: boolean, out: EncodedUpdate[]): MessageOutcome {\n    if (this.#phase === "superseded") return "fine";',
    "row(row: Row, shorter: boolean, out: EncodedUpdate[]): MessageOutcome {",
  ),
  planterOf("src/projection/message.ts", RECORD)(
    "T3",
    "a superseded message is missed at the end",
    'this.#phase !== "superseded" && this.#announced',
    "this.#announced",
  ),
  turn(
    "T3",
    "a superseded message is forgotten and shown again",
    "this.#messages.get(frame.messageId)?.supersede(out);",
    "this.#messages.delete(frame.messageId);",
  ),

  message(
    "T5",
    "a pair that is cut in two is shown in halves",
    "if (last >= 0xd800 && last <= 0xdbff) {",
    "if (last === 0) {",
  ),
  message(
    "T5",
    "a lone half at the end is lost",
    "    this.#comparison = undefined;\n    this.flush(out);",
    "    this.#comparison = undefined;",
  ),
  encode("T5", "empty chunks are sent", "  if (text.length === 0) return;\n", ""),
  encode(
    "T5",
    "a long text is cut inside a pair",
    "if (cut < text.length && isLow(text.charCodeAt(cut)) && cut > floor) cut--;",
    "",
  ),
  encode(
    "T5",
    "a long text is cut inside a cluster",
    "near.index > 0 ? from + near.index : cut;",
    "near.index > 0 ? cut : cut;",
  ),
  encode(
    "T5",
    "carriage return and line feed are parted",
    "if (before < 0x80 && before !== 0x0d &&",
    "if (before < 0x80 &&",
  ),
  turn(
    "T5",
    "the prompt is echoed",
    'if (row.kind === "user" || row.kind === "end") return NOTHING;',
    'if (row.kind === "user") {\n      return this.apply({ type: "message", run: row.run, messageId: row.id, channel: "text", offset: 0, text: "x" }, now);\n    }\n    if (row.kind === "end") return NOTHING;',
  ),

  encode(
    "A1",
    "a long text goes in one line",
    "  if (fits(whole, UPDATE_BYTES)) {",
    "  if (whole.length > 0) {",
  ),
  planterOf("src/projection/encode.ts", BYTES)(
    "A1",
    "bytes are counted as characters",
    "return text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes);",
    "return text.length <= bytes;",
  ),
  plan(
    "A1",
    "a large plan takes more than a line",
    "length >= 4 && !fits(update, UPDATE_BYTES)",
    "length >= 4096",
  ),
  plan(
    "A1",
    "a plan has any number of entries",
    "entries.length > ENTRIES ? entries.slice(0, ENTRIES - 1) : entries",
    "entries",
  ),
  session(
    "A1 G1",
    "a long list of choices takes more than a line",
    "    if (fits(json, UPDATE_BYTES)) return json;",
    "    return json;",
  ),

  turn(
    "P4",
    "a missing message does not matter",
    "      if (message.missing) {",
    "      if (message.missing && message.length < 0) {",
  ),
  plan(
    "P3",
    "a plan ends as it was live",
    "if (this.#recorded !== undefined) this.#show(this.#recorded.update, out);",
    "",
  ),

  planterOf("src/projection/message.ts", RECORD)(
    "R1",
    "a row that goes on is shown from its beginning",
    "this.#append(known === 0 ? text : text.slice(known), this.#meta, out);",
    "this.#append(text, this.#meta, out);",
  ),
  message("R1", "a hole in a row goes unnoticed", 'if (offset !== this.#length) return "gap";', ""),
  message(
    "R1",
    "a body that the reader holds is not checked",
    "    const outcome = this.#close(row.length, row.sha256, out);\n    if",
    '    const outcome = body === undefined ? "fine" : this.#close(row.length, row.sha256, out);\n    if',
  ),
  turn(
    "R1",
    "what was shown is not told to the reader",
    "if (length > 0) held.push(",
    "if (length < 0) held.push(",
  ),
  joined(
    "R1",
    "a row that lags behind replaces live output",
    "output.text.length + output.dropped <= (this.output?.total ?? 0)",
    "output.text.length < 0",
  ),
  joined("R1", "output after a row is marked as incomplete", "this.output.skipTo(seq);", ""),
  output(
    "R1",
    "a row that covers more comes behind live output",
    "    this.#chunks = [];\n    this.#first = this.#length = 0;\n    this.#dropped = dropped;",
    "    this.#dropped = dropped;",
  ),
  replay(
    "R1",
    "a replay that begins again shows everything again",
    "if (row.seq <= this.#done) return NOTHING;",
    "",
  ),

  bodies(
    "R4",
    "a row of any length is assembled",
    'if (row.length > LIMITS.assemblyLength) return { kind: "oversize" };',
    "",
  ),
  bodies(
    "R4",
    "only the last fragment of a row counts",
    'const whole = this.#parts.join("");',
    'const whole = this.#parts.at(-1) ?? "";',
  ),
  replay(
    "R4",
    "a damaged record ends the replay",
    "record === undefined) card.interrupt(",
    "record === undefined) throw new Error(",
  ),

  replay(
    "H1",
    "replayed text has other ids",
    "pushText(out, chunkHead(row.id, channel)",
    "pushText(out, chunkHead(`replay-${row.seq}`, channel)",
  ),
  replay(
    "H1",
    "what the user said is left out",
    'if (body?.kind === "user") userUpdates(row.id, body.input, out);',
    "",
  ),
  replay(
    "H1",
    "tools without a result stay open",
    '    card.interrupt(CUT_SHORT[record?.cutShort ?? "interrupted"]);\n',
    "",
  ),
  replay(
    "H1",
    "tools are left out",
    '        out.push(this.#tool(row, body?.kind === "tool" ? body.tool : undefined, now));\n',
    "",
  ),
  replay(
    "H1",
    "thinking is left out",
    'if (row.kind === "text" || row.kind === "thinking") this.#text(row, row.kind, out);',
    'if (row.kind === "text") this.#text(row, row.kind, out);',
  ),
  replay(
    "H1",
    "a plan is shown each time it changed",
    "this.#turn(row).plan = planUpdate(body.entries, this.#redact, body.meta);",
    "out.push(planUpdate(body.entries, this.#redact, body.meta));",
  ),
  replay(
    "H1",
    "a plan without an end is lost",
    "if (plan !== undefined) out.push(plan);\n    this.#past.clear();",
    "this.#past.clear();",
  ),
  replay(
    "H1",
    "notices are replayed that were live elsewhere",
    "    if (this.#options.abilities.notices) return;\n",
    "",
  ),
  replay(
    "H1",
    "notices are left out",
    "    if (this.#options.abilities.notices) return;\n    out.push(",
    "    if (this.#options.abilities.notices || row.seq > 0) return;\n    out.push(",
  ),
  replay(
    "H1",
    "fragments part a pair",
    "const parted = open.length < row.length && last >= 0xd800 && last <= 0xdbff;",
    "const parted = false;",
  ),
  replay(
    "R1",
    "a fragment that came before is shown again",
    "const text = row.body.text.slice(known);",
    "const text = row.body.text;",
  ),
  planterOf("src/projection/replay.ts", RECORD)(
    "H1 K9",
    "a tool of a stopped Turn is replayed as cut off",
    'record?.cutShort ?? "interrupted"',
    '"interrupted"',
  ),
  user(
    "H1",
    "a file of the user is lost",
    "  if (part.uri === undefined) return undefined;",
    '  if (part.kind !== "link") return "";\n  if (part.uri === undefined) return undefined;',
  ),
  user(
    "H1",
    "bytes without a URI are lost",
    'else pushText(out, `${head}{"type":"text","text":`, `[${described(part)}]`',
    'else if (link !== undefined) pushText(out, `${head}{"type":"text","text":`, `[${described(part)}]`',
  ),
  notices(
    "H1",
    "a notice is shown live and from its row",
    "if (Math.max(count.frames, count.rows) <= count.shown) return;",
    "",
  ),
  notices(
    "H1",
    "a notice that is given twice is shown once",
    "if (Math.max(count.frames, count.rows) <= count.shown) return;",
    "if (count.shown > 0) return;",
  ),
  notices(
    "H1",
    "a notice becomes a message of the agent",
    ": noticeCard(noticeId(this.#turnId, this.#cards++), notice, this.#redact, meta),",
    ': `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${JSON.stringify(notice.title)}}}`,',
  ),
  notice(
    "H1",
    "a notice's card does not say what it is",
    "metaMember({ ...meta, gangway: { notice: notice.severity } })",
    "metaMember(meta)",
  ),
  planterOf("src/projection/turn.ts", PLAN)(
    "H1",
    "a compaction goes to an editor that has none",
    "if (!this.#shows.compaction) return NOTHING;",
    "",
  ),

  replay(
    "H2",
    "a live Turn does not go on where its replay ended",
    "return this.#projection(row.run.turnId).read(row, now);",
    "return new TurnProjection(row.run.turnId, this.#options).read(row, now);",
  ),

  replay(
    "H3",
    "an interrupted Turn is not marked",
    'if (end.how === "interrupted") {',
    'if (end.how === "interrupted" && end.how === undefined) {',
  ),
  replay(
    "H3",
    "a failed Turn is not marked",
    'return end.how === "failed"\n',
    'return end.how === "failed" && end.failure.message === ""\n',
  ),
  replay(
    "H3",
    "a stopped Turn is marked too",
    'return end.how === "failed"\n    ? { severity: "error", title: "Failed: this turn ended with an error", text: end.failure.message }',
    'return end.how !== "completed"\n    ? { severity: "error", title: "Failed: this turn ended with an error", text: end.failure?.message }',
  ),
  turn(
    "H3",
    "an interrupted Turn may not keep less than was shown",
    'this.#shorter = frame.end.how === "interrupted";',
    "",
  ),
  planterOf("src/projection/turn.ts", RECORD)(
    "T2 H3",
    "any Turn may keep less than was shown",
    'this.#shorter = frame.end.how === "interrupted";',
    "this.#shorter = true;",
  ),
  planterOf("src/projection/turn.ts", PLAN)(
    "H3",
    "an interrupted plan goes back to an older one",
    'if (end.how !== "interrupted") this.#plan.finish(out);',
    "this.#plan.finish(out);",
  ),

  session(
    "G1",
    "the mode is not told with the options",
    "  if (mode !== undefined) {\n    updates.push(",
    "  if (mode === undefined) {\n    updates.push(",
  ),
  config(
    "G1",
    "options show their first choice",
    "currentValue: option.value,\n        options",
    "currentValue: option.choices[0]!.value,\n        options",
  ),
  config(
    "G1",
    "modes show their first choice",
    "currentModeId: mode.value,",
    "currentModeId: mode.choices[0]!.value,",
  ),
  config(
    "G1",
    "any select is taken for the modes",
    'option.type === "select" && option.category === "mode" &&',
    'option.type === "select" &&',
  ),
  config("G1", "boolean options go to everybody", "} else if (shows.booleans) {", "} else {"),
  config(
    "G1",
    "boolean options go to nobody",
    "} else if (shows.booleans) {",
    "} else if (shows.booleans && option.value === undefined) {",
  ),
  session(
    "G1",
    "a new configuration is not told",
    '    case "config":\n      return configUpdates(frame.config, shows, frame.meta, frame.modeMeta);',
    '    case "config":\n      return [];',
  ),
  session(
    "G3",
    "new commands are not told",
    '    case "commands":\n      return commandsUpdate(frame.commands, frame.meta);',
    '    case "commands":\n      return [];',
  ),
  session("G3 G4", "commands that cannot be typed are offered", " && /^\\S+( \\S+)*$/.test(name)", ""),
  session("G3 G4", "a command's slash is doubled", 'command.name.replace(/^\\/+/, "")', "command.name"),
  session("G4", "any number of commands is offered", "commands.slice(0, LIMITS.commands)", "commands"),
  session(
    "G4",
    "commands take more than a line",
    "    if (fits(update, UPDATE_BYTES)) return [update];\n",
    "    return [update];\n",
  ),
  session(
    "G4",
    "more is used than there is",
    "size <= 0 || used < 0 || used > size",
    "size <= 0 || used < 0",
  ),
  session(
    "G4",
    "a window of nothing is shown",
    "size <= 0 || used < 0 || used > size",
    "used < 0 || used > size",
  ),
  session(
    "G4",
    "an unknown window is shown",
    "  if (!Number.isSafeInteger(used) || !Number.isSafeInteger(size)) return [];\n",
    "",
  ),
  session(
    "G4",
    "a title of any length is shown",
    "const line = oneLine(title, LIMITS.titleLength);",
    "const line = title;",
  ),
  session(
    "G4",
    "an empty title stays empty",
    'line === "" ? "null" : JSON.stringify(line)',
    "JSON.stringify(line)",
  ),
];
