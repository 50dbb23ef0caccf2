import { type Mutant, planterOf } from "./mutant.ts";

const local = (name: string, ...tests: readonly string[]) =>
  planterOf(`src/host/local/${name}.ts`, ...tests.map((test) => `tests/host/local/${test}_test.ts`));
const store = (name: string) => planterOf(`src/host/store/${name}.ts`, "tests/host/store/contract_test.ts");

const questions = local("questions", "questions");
const grants = local("grants", "questions");
const form = local("form", "questions");
const turns = local("turns", "turns", "questions");
const begun = local("turns", "transcript");
const settings = local("settings", "settings");
const choices = local("choices", "settings");
const session = local("session", "settings");
const bounds = local("bounds", "settings");
const reader = local("reader", "transcript");
const journal = local("journal", "transcript");
const messages = local("messages", "transcript");
const messageRow = local("message_row", "transcript");
const piece = local("piece", "transcript");
const tools = local("tools", "transcript");
const toolRow = local("tool_row", "transcript");
const output = local("output", "transcript");
const transcript = local("transcript", "transcript");
const recovery = local("recovery", "transcript");
const queue = local("queue", "subscription");
const subscription = local("subscription", "subscription");
const snapshot = local("session", "subscription", "questions");
const uploads = local("uploads", "uploads");
const registry = local("registry", "sessions");
const removal = local("session", "sessions");
const memory = store("memory");
const memoryFiles = store("memory_artifacts");
const folder = store("folder");

const listed = planterOf("src/host/store/folder.ts", "tests/host/store/leftovers_test.ts");
const ahead = planterOf("src/host/store/folder_session.ts", "tests/host/store/sync_test.ts");
const leftBehind = planterOf("src/host/store/session_db.ts", "tests/host/store/leftovers_test.ts");
const folderFiles = planterOf("src/host/store/folder_artifacts.ts", "tests/host/store/leftovers_test.ts");

/** Faults of `src/host/local/` and `src/host/store/`. */
export const HOST_MUTANTS: readonly Mutant[] = [
  local("host", "sessions")(
    "A8",
    "a store that could not be opened is not tried again",
    "      this.#registry = undefined;\n",
    "",
  ),
  local("host", "sessions")(
    "A8",
    "a store is opened before it is needed",
    "    const { limits = LIMITS } = this.#options;\n    const connection",
    "    const { limits = LIMITS } = this.#options;\n    void this.#opened().catch(() => {});\n    const connection",
  ),

  messageRow(
    "R1",
    "the digest leaves out what was saved",
    "    this.#digest.update(text);\n    this.#chunks",
    "    if (this.#kept === 0) this.#digest.update(text);\n    this.#chunks",
  ),
  messages(
    "T2",
    "text is taken back and nobody is told",
    'fanout.publish({ type: "message_reset", run: this.#run, messageId, channel: row.kind }, 0);',
    "",
  ),
  messageRow(
    "T2",
    "what was taken back is still read",
    '    this.#flight = "";\n  }\n\n  take()',
    "  }\n\n  take()",
  ),
  messageRow("T2", "what was taken back stays in the store", '    this.#mode = "replace";\n', ""),
  messages(
    "T3",
    "a superseded message is not told as one",
    'this.#parts.fanout.publish({ type: "message_superseded", run: this.#run, messageId, by }, 0);',
    "",
  ),
  messages(
    "T3",
    "an ended message speaks again",
    "    if (this.#ended.has(messageId)) {",
    '    if (messageId === "") {',
  ),
  messageRow(
    "T5",
    "a pair that is cut in two leaves in halves",
    "if (last >= 0xd800 && last <= 0xdbff) {",
    "if (last === 0) {",
  ),
  messageRow(
    "T5",
    "half a pair passes",
    "return text.isWellFormed() ? text : text.toWellFormed();",
    "return text;",
  ),
  messageRow(
    "T5",
    "a half at the end is lost",
    'const rest = this.#half === "" ? "" : "\\ufffd";',
    'const rest = "";',
  ),
  piece(
    "T5",
    "a long piece is cut inside a pair",
    "if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;",
    "",
  ),
  messages("T5", "empty pieces become frames", '    if (text === "") return;\n', ""),

  local("tool_row", "tools")(
    "K2",
    "a sensitive tool's row does not say so",
    "sensitive: this.#input.sensitive,",
    "sensitive: false,",
  ),
  tools("K3", "a long result goes into its frame", "if (length <= RESULT_LENGTH)", "if (length >= 0)"),
  tools(
    "K3",
    "no result is announced with its digest",
    "      status: result.status,\n      ...durable,",
    "      status: result.status,",
  ),
  toolRow(
    "K3",
    "live output stays beside the result",
    "result !== undefined && result.content.length > 0 || this.#output.produced === 0",
    "this.#output.produced === 0",
  ),
  local("tools", "tools")(
    "K4",
    "a tool begins again after its end",
    "if (!this.#ended.has(toolCallId)) return this.#begin",
    "if (!this.#open.has(toolCallId)) return this.#begin",
  ),
  output("K5", "what was dropped goes uncounted", "    this.#dropped += from;\n", ""),
  output(
    "K5",
    "the end of a long output is lost",
    "this.#tail = from === tail.length ? [] :",
    "this.#tail = from > 0 ? [] :",
  ),
  local("tools", "tools")("K7", "a tool without a result stays open for ever", "      row.cut(how);\n", ""),

  local("tool_row", "tools")(
    "K9",
    "a tool without a result is not kept with the end of its Turn",
    "    this.#cutShort = how;\n",
    "",
  ),
  questions(
    "I2",
    "the Engine goes on before the answer is saved",
    "await this.#parts.journal.commit(() => [writeOf(interactionId, record), ...made?.writes ?? []]);",
    "void this.#parts.journal.commit(() => [writeOf(interactionId, record), ...made?.writes ?? []]).catch(() => {});",
  ),
  questions(
    "I2",
    "a Grant is not saved with its answer",
    "[writeOf(interactionId, record), ...made?.writes ?? []]",
    "[writeOf(interactionId, record)]",
  ),
  questions(
    "I2",
    "a Grant is not in force",
    "    if (made !== undefined) this.#parts.grants.add(made.grant, open.run);\n",
    "",
  ),
  grants("I2", "a Grant reaches any object", "a.what === b.what && a.value === b.value", "a.what === b.what"),
  grants(
    "I2",
    "a Grant reaches any action",
    "a.what === b.what && a.value === b.value",
    "a.value === b.value",
  ),
  grants(
    "I2",
    "a refusal that lasts permits",
    'option.effect === (grant.effect ?? "allow") &&',
    "option.effect !== undefined &&",
  ),
  grants(
    "I2",
    "a permission goes before a refusal",
    'chosen.find((option) => option.effect === "deny") ?? chosen[0]',
    "chosen[0]",
  ),
  grants(
    "I2",
    "a plain question is answered by a Grant",
    'if (question.kind !== "permission" && question.kind !== "sandbox_boundary") return undefined;',
    "",
  ),
  grants(
    "I2",
    "a Grant for the Turn outlives it",
    'if (grant.scope.until === "turn") run.grants.push(grant);\n    else this.#kept',
    "this.#kept",
  ),
  grants(
    "I2",
    "a Grant for the Turn outlives the process",
    'scope.until === "turn" ? [] : [{ op: "grant", grant }]',
    '[{ op: "grant", grant }]',
  ),
  grants(
    "I2",
    "a Grant for ever ends with the process",
    "this.#kept = new Map(kept.map((grant) => [grant.grantId, grant]));",
    "this.#kept = new Map();\n    void kept;",
  ),
  grants("I2", "a Grant that was taken back stays in force", "    this.#kept.delete(grantId);\n", ""),

  questions(
    "I3",
    "an option that was not offered approves",
    'if (question.kind !== "form" && question.kind !== "url" && option !== undefined) return option;',
    'if (question.kind !== "form") return option ?? question.options[0];',
  ),
  questions(
    "I3",
    "an option answers a form",
    'if (question.kind !== "form" && question.kind !== "url" && option !== undefined) return option;',
    'if (question.kind === "form" || option !== undefined) return option;',
  ),
  questions(
    "I3",
    "values answer a permission",
    'if (question.kind !== "form") {\n        throw',
    "if (question.kind === undefined) {\n        throw",
  ),
  questions(
    "I3",
    "a form's values are not checked",
    "if (fault === undefined) return undefined;\n      throw",
    "if (fault !== null) return undefined;\n      throw",
  ),
  questions(
    "I3",
    "a made-up kind of answer is taken",
    '    default:\n      throw new HostError("invalid", "The answer is neither an option, nor values, nor decline, nor cancel");',
    "    default:\n      return question.options[0];",
  ),
  form(
    "I3",
    "a form takes a field that it has not",
    "if (extra !== undefined) return",
    'if (extra === "") return',
  ),
  form(
    "I3",
    "a form takes a missing field",
    "      if (field.required) return",
    '      if (field.name === "") return',
  ),
  form(
    "I3",
    "a form takes a text that is too short",
    "value.length < (field.minLength ?? 0)",
    "value.length < 0",
  ),
  form(
    "I3",
    "a form takes a text that is too long",
    "value.length > (field.maxLength ?? Infinity)",
    "value.length > Infinity",
  ),
  form(
    "I3",
    "a form takes a number that is too small",
    "value < (field.minimum ?? -Infinity)",
    "value < -Infinity",
  ),
  form(
    "I3",
    "a form takes a number that is too large",
    "value > (field.maximum ?? Infinity)",
    "value > Infinity",
  ),
  form(
    "I3",
    "a form takes a fraction for a whole number",
    'field.type === "integer" && !Number.isInteger(value)',
    'field.type === "integer" && value === 0',
  ),
  form(
    "I3",
    "a form takes a choice that it has not",
    "field.choices.some((choice) => choice.value === value)\n        ? undefined",
    "field.choices.some((choice) => choice.value !== value)\n        ? undefined",
  ),

  questions(
    "I4",
    "a Grant leaves other questions open",
    "    if (made !== undefined) this.#grantOthers();\n",
    "",
  ),
  questions(
    "I4",
    "the same answer is refused",
    'if (record.reason === "answered" && sameAnswer(record.answer, answer)) return;',
    "",
  ),
  questions(
    "I4",
    "another answer is taken",
    'record.reason === "answered" && sameAnswer(record.answer, answer)',
    'record.reason === "answered"',
  ),
  questions(
    "I4",
    "nobody is told that a question is closed",
    'this.#parts.fanout.publish({ type: "interaction_closed", interactionId, run, reason, by }, 0);',
    "void reason, by, run;",
  ),
  turns(
    "I4",
    "a stop leaves questions open",
    '    this.#parts.questions.closeAll(run, "stopped", by);\n',
    "",
  ),
  questions(
    "I5",
    "a question that nobody could answer is asked",
    "if (!needed) throw new HostError",
    "if (kind === undefined) throw new HostError",
  ),

  turns(
    "I7",
    "a Run is taken from who presents it",
    "    if (run.presenter !== undefined) {\n      throw",
    "    if (run.presenter === connectionId) {\n      throw",
  ),
  turns("I7", "a Run keeps a presenter that is gone", "      run.presenter = undefined;\n", ""),
  turns(
    "I7",
    "nobody is told who presents a Run",
    "    run.presenter = connectionId;\n    this.announce(run);",
    "    run.presenter = connectionId;",
  ),
  snapshot(
    "I7",
    "who joins does not see open questions",
    "interactions: this.#works.questions.open(),",
    "interactions: [],",
  ),

  uploads(
    "F3",
    "bytes that came before are appended again",
    "if (repeated < bytes.length) upload.size = await this.#files.append(uploadId, bytes.subarray(repeated));",
    "upload.size = await this.#files.append(uploadId, bytes);",
  ),
  uploads("F3", "a part may leave a gap", "offset < 0 || offset > upload.size", "offset < 0"),
  uploads("F3", "other bytes at a place are taken", "repeated > 0 && !same(", "repeated < 0 && !same("),
  uploads(
    "F3",
    "an Artifact may have another digest",
    "there?.size !== size || there.sha256 !== sha256",
    "there?.size !== size",
  ),
  uploads(
    "F3",
    "an Artifact may have another size",
    "there?.size !== size || there.sha256 !== sha256",
    "there?.sha256 !== sha256",
  ),
  uploads(
    "F3",
    "a commit is answered before it is saved",
    'await this.#journal.commit(() => [{ op: "artifact", artifact }]);',
    'void this.#journal.commit(() => [{ op: "artifact", artifact }]).catch(() => {});',
  ),
  uploads(
    "F3",
    "a Turn may use another Session's Artifact",
    "if (known?.sha256 !== artifact.sha256) throw missing(artifact.artifactId);",
    "",
  ),
  local("turns", "uploads")(
    "F3",
    "a Turn does not pin its Artifacts",
    '      ...artifactIds.map((artifactId) => ({ op: "pin", turnId, artifactId }) as const),\n',
    "",
  ),
  local("turns", "uploads")(
    "F3",
    "what a Turn uses goes with its connection",
    "    uploads.pinned(artifactIds);\n    if",
    "    if",
  ),
  uploads(
    "F4",
    "an abort leaves the bytes",
    "    if (upload.artifact === undefined) await this.#files.remove(uploadId);\n    else await this.#remove(upload.artifact.artifactId);\n",
    "",
  ),
  uploads(
    "F4",
    "bytes stay when their connection goes",
    "if (upload.connectionId === connectionId) await this.abort(uploadId);",
    'if (upload.connectionId === "") await this.abort(uploadId);',
  ),
  uploads(
    "F4",
    "what an earlier process left stays",
    "      if (pinned) known.set(artifact.artifactId, artifact);\n",
    "      if (pinned || artifact) known.set(artifact.artifactId, artifact);\n",
  ),
  memoryFiles("F4", "unfinished uploads outlive their holder", "    this.#files.sweep();\n", ""),
  folderFiles("F4", "unfinished uploads stay in the folder", " || name.endsWith(UPLOAD)) doomed", ") doomed"),
  folderFiles("F4", "bytes without a row stay in the folder", "if (orphan || name", "if (name"),
  uploads("F5", "an Artifact has no cap", " || offset + bytes.length > this.#limits.artifactBytes", ""),
  uploads("F5", "a part has no cap", "bytes.length > this.#limits.appendBytes || ", ""),

  reader(
    "R1",
    "a prefix counts as held whatever it is",
    "return digest.hex() === held.sha256;",
    "return true;",
  ),
  reader(
    "R1",
    "a whole body counts as held whatever it is",
    "return held.sha256 === row.head.sha256;",
    "return true;",
  ),
  reader("R1", "what is held is sent again", "          offset = known.length;", "          offset = 0;"),
  reader(
    "R1 H2",
    "rows that still grow are read as they were saved",
    "const views = this.#journal.pending({ turnId, from: seq, through });",
    "const views: RowView[] = [];",
  ),
  reader(
    "R1",
    "a tool that ended meanwhile is read from the middle",
    'const same = head.kind !== "tool" || from.tag === tagOf(head);',
    "const same = true;",
  ),
  queue(
    "R1",
    "deltas with a gap between them are merged",
    "next.offset === first.offset + length && sameRun",
    "sameRun",
  ),
  queue(
    "R1",
    "outputs with a gap between them are merged",
    "next.seq === first.seq + texts.length && sameRun",
    "sameRun",
  ),
  subscription(
    "R1",
    "frames that came with others are not counted",
    "    this.#next += frames.length;",
    "    this.#next += 1;",
  ),
  subscription("R1", "who cannot keep up loses frames", '      this.end("slow_consumer");\n', ""),
  snapshot(
    "R1",
    "a snapshot does not say how far messages are",
    "messages: this.#works.turns.messages(),",
    "messages: [],",
  ),
  snapshot("R1", "a snapshot lacks the Runs", "runs: this.#works.turns.runs(),", "runs: [],"),
  local("session", "subscription")(
    "R3",
    "a snapshot does not name its store",
    "    return {\n      storeId,\n",
    "    return {\n      storeId: hostEpoch,\n",
  ),
  reader(
    "R2",
    "a read does not keep to its range",
    "Math.min(request.through ?? Infinity, this.#journal.last)",
    "this.#journal.last",
  ),
  reader(
    "R2",
    "a read begins at the first row",
    "{ seq: request.after + 1, offset: 0",
    "{ seq: 1, offset: 0",
  ),
  reader("R4", "a page has any number of rows", " || this.#rows.length >= PAGE_ROWS", ""),
  reader("R4", "a page has any length", "return Math.min(length, this.#room);", "return length;"),
  toolRow(
    "R4",
    "a record is longer than readers take",
    "result !== undefined && this.#encoded().length > this.#limits.assemblyLength",
    "result === null",
  ),

  begun("H1", "what the user said is not kept", "      ...this.#userRow(key, input),\n", ""),
  transcript(
    "H1",
    "notices are not kept",
    '    this.#fixed({ kind: "notice", severity, title, text, meta });\n',
    "",
  ),
  journal(
    "P3",
    "the watermark passes what is still open",
    'for (const row of this.#rows.values()) if (row.state === "open") return row.seq - 1;',
    "",
  ),
  recovery(
    "H3",
    "an interrupted Turn has no end",
    'if (turn.state !== "admitted") continue;',
    "if (turn !== undefined) continue;",
  ),
  recovery(
    "H3",
    "an interrupted Turn looks stopped",
    'const end = { how: "interrupted" } as const;',
    'const end = { how: "stopped", by: "host" } as const;',
  ),
  recovery(
    "H3",
    "what an interrupted Turn said stays open",
    "if (!head.complete) batch.push",
    "if (head.complete) batch.push",
  ),
  recovery("H3", "what is recovered is not saved", "if (batch.length > 0) await store.commit(batch);", ""),
  registry("H4", "a removed Session stays in the store", "    await this.store.remove(sessionId);\n", ""),
  removal("H4", "who watches a removed Session is not told", '    this.#works.fanout.end("removed");\n', ""),
  removal("H4", "Runs of a removed Session go on", "    this.#works.turns.abandon();\n", ""),
  memory("H4", "removing forgets nothing", "    this.#records.delete(sessionId);\n", ""),
  folder(
    "H4",
    "removing leaves the files",
    "    await Deno.rename(place.path, tomb);\n    await syncFolder(this.#state.sessions);\n    await Deno.remove(tomb, { recursive: true });",
    "",
  ),
  ahead(
    "S8",
    "a commit is acknowledged before the disk has it",
    "      await ahead.sync();",
    "      void ahead.sync().catch(() => {});",
  ),
  ahead("S8", "commits are acknowledged in the order of the disk", "    await before;\n", ""),
  ahead("S8", "a Session is closed while the disk writes", "      await this.#told;\n", ""),
  ahead(
    "S8",
    "a disk that failed is trusted again",
    "    if (this.#failure !== undefined) return Promise.reject(this.#failure);\n",
    "    this.#failure = undefined;\n",
  ),
  leftBehind(
    "S8",
    "a Session without an entry counts as damaged",
    '    if (info === undefined) throw storageRefusal("empty", this.#place);\n',
    "",
  ),
  listed(
    "H4",
    "a removed Session stays in the list",
    "    // After the files, so that there is room on a full disk.\n    this.#list.forget(sessionId);\n",
    "",
  ),
  folder(
    "H4",
    "removing what is not there is an error",
    'if (!(cause instanceof HostError && cause.code === "not_found")) throw',
    "if (cause !== undefined) throw",
  ),

  session(
    "G1",
    "a change does not reach the Engine",
    'if (outcome === "changed") this.#tellEngine(meta);',
    "void outcome;",
  ),
  session(
    "G1",
    "nobody is told that the Engine refused a setting",
    "      if (taken) return;\n",
    "      if (taken !== undefined) return;\n",
  ),
  settings(
    "G1",
    "a change is not told",
    "    );\n    this.#publishConfig(config);",
    "    );",
  ),
  settings(
    "G1",
    "options that the Engine sends again are a change",
    "if (JSON.stringify(options) !== JSON.stringify(this.#info.config.options)) {",
    "if (options.length > 0) {",
  ),
  settings(
    "G2",
    "the last change wins",
    "    if (expectedRevision !== revision) {",
    "    if (expectedRevision > revision) {",
  ),
  settings(
    "G2",
    "a change is made twice",
    'if (await this.#parts.store.change(changeId) !== undefined) return "repeated";',
    "",
  ),
  settings(
    "G2",
    "a change is not remembered",
    "...(changeId === undefined ? [] :",
    "...(changeId !== undefined ? [] :",
  ),
  settings(
    "G2",
    "a change is told before it is saved",
    '    await this.#parts.journal.commit(\n      () => [\n        { op: "info", info: { ...this.#info, config } },',
    '    void this.#parts.journal.commit(\n      () => [\n        { op: "info", info: { ...this.#info, config } },',
  ),
  choices(
    "G3",
    "an unknown option is passed over",
    "    if (option === undefined) {\n      throw",
    "    if (option === undefined) continue;\n    if (option === null) {\n      throw",
  ),
  choices(
    "G3",
    "any value is taken",
    'typeof value === "string" && values.includes(value)',
    'typeof value === "string"',
  ),
  choices(
    "G3",
    "a text is taken for a truth",
    'if (typeof value === "boolean") return { ...option, value };',
    "if (value !== undefined) return { ...option, value: Boolean(value) };",
  ),
  settings(
    "G3",
    "new commands are not told",
    '{ type: "commands", commands, meta',
    '{ type: "commands", commands: [], meta',
  ),
  bounds("G4", "any number of commands is kept", "    if (bounded.length >= limits.commands) break;\n", ""),
  bounds(
    "G4",
    "a command has any length",
    'cut(typeof each.description === "string" ? each.description : "", limits.commandLength)',
    'typeof each.description === "string" ? each.description : ""',
  ),
  bounds(
    "G4",
    "a title has any length",
    'return cut(title.replace(/\\s+/g, " ").trim(), limits.titleLength) || undefined;',
    'return title.replace(/\\s+/g, " ").trim() || undefined;',
  ),
  bounds("G4", "usage of an unknown window is told", "    usage.size > 0;", "    usage.size >= 0;"),
];
