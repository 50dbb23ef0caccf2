import { type Mutant, planterOf } from "./mutant.ts";

const at = (name: string) => `tests/resource/${name}_test.ts`;

const uri = planterOf("src/resource/uri.ts", at("uri"));
const scope = planterOf("src/resource/scope.ts", at("permission"));
const kind = planterOf("src/resource/scope.ts", at("kinds"));
const look = planterOf("src/resource/scope.ts", at("interleaving"));
const trail = planterOf("src/resource/trail.ts", at("reading"));
const path = planterOf("src/resource/path.ts", at("permission"));
const files = planterOf("src/resource/door.ts", at("kinds"));
const folder = planterOf("src/resource/door.ts", at("permission"));
const reading = planterOf("src/resource/file.ts", at("reading"));
const descriptor = planterOf("src/resource/descriptor.ts", at("descriptor"));
const refusal = planterOf("src/resource/refusal.ts", at("kinds"));
const upload = planterOf("src/resource/upload.ts", at("upload"));

/** Faults of `src/resource/`. */
export const FILE_MUTANTS: readonly Mutant[] = [
  descriptor("F1", "opening a pipe waits for its other end", " | (disk.constants.O_NONBLOCK ?? 0)", ""),
  kind(
    "F1",
    "what is no regular file is opened",
    "if (!found.isFile) throw notRegular(path, kindOf(found));",
    "",
  ),
  look(
    "F1",
    "what was opened need not be a regular file",
    "if (!opened.isFile || !isOpened(found))",
    "if (opened.ino !== found.ino)",
  ),
  files(
    "F1",
    "a folder goes to an agent that takes none",
    "if (!options.directories) throw folderRefused(path);",
    "",
  ),
  files(
    "F1",
    "a folder is refused by an agent that takes it",
    "if (!options.directories) throw folderRefused(path);",
    "throw folderRefused(path);",
  ),
  uri("F1", "other schemes are refused", 'scheme.length > 1 && scheme !== "file"', "scheme.length > 99"),
  uri(
    "F1 F6",
    "the range of a reference is lost",
    'return { kind: "reference", ...linesIn(uri) };',
    'return { kind: "reference" };',
  ),
  scope(
    "F1 F2",
    "views of the system are read",
    'if (isSystem(path)) throw refused(path, "is never read: it is a view of the system and no file");',
    "",
  ),
  scope(
    "F1 F2",
    "a link leads to a view of the system",
    'if (isSystem(real)) throw refused(path, "leads through a symbolic link to what is never read");',
    "",
  ),
  planterOf("src/resource/file.ts", at("reading"))(
    "F1",
    "a file is named by what its whole path is",
    'this.name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\\\")) + 1);',
    "this.name = path;",
  ),
  refusal(
    "F1",
    "a refusal does not say what the thing is",
    "is ${kind}, and only regular files are read",
    "cannot be read",
  ),

  look(
    "F2",
    "the path as written is not judged",
    "if (!this.#grants.readable(path)) throw notPermitted(path);",
    "",
  ),
  scope(
    "F2",
    "the real path is not judged",
    "    if (!this.#grants.readable(real)) {\n      throw",
    '    if (real === "") {\n      throw',
  ),
  scope(
    "F2",
    "what lies outside of the roots is read",
    "    if (outermost(roots, real) === undefined) {\n      throw",
    '    if (real === "") {\n      throw',
  ),
  kind(
    "F2",
    "a refusal names where a link leads",
    '"leads through a symbolic link out of the Session\'s folders: link the file itself"',
    "`leads through a symbolic link to ${real}`",
  ),
  scope(
    "F2",
    "the state folder is read",
    "if (this.#isDenied(real, trail)) throw",
    "if (real === path && this.#isDenied(path, trail)) throw",
  ),
  scope("F2", "the state folder is read by its name", "if (isWithin(denial, real)) return true;", ""),
  look(
    "F2",
    "the state folder is read under its other spelling",
    " || trail.passes(Deno.statSync(denial));",
    ";",
  ),
  look(
    "F2",
    "the state folder is read where files have no numbers",
    "isWithin(Deno.realPathSync(denial), real) || trail",
    "trail",
  ),
  look(
    "F2",
    "folders are looked at that are not granted",
    ".filter((folder) => this.#grants.readable(folder))",
    "",
  ),
  path(
    "F2",
    "a folder whose name begins alike counts as inside",
    "folder.endsWith(separator) ? folder : folder + separator",
    "folder",
  ),
  folder(
    "F2",
    "a working folder is looked at without permission",
    "    if (!this.#grants.readable(written)) return written;\n",
    "",
  ),
  planterOf("src/resource/refusal.ts", at("permission"))(
    "F2",
    "a refusal does not name the flag",
    "may not be read: start Gangway with ${flag}, or with its folder there",
    "may not be read",
  ),

  reading("F3 F5", "a part is longer than an append", "Math.min(left + 1, LIMITS.appendBytes)", "left + 1"),
  reading(
    "F3",
    "a file is read from its beginning again and again",
    "this.#descriptor.read(part, offset)",
    "this.#descriptor.read(part, offset % 7)",
  ),
  upload(
    "F3",
    "what the Host kept is not compared",
    "if (reference.size !== size || reference.sha256 !== sha256) throw otherBytes(source.name);",
    "",
  ),
  upload(
    "F3",
    "the reference is made up",
    "    return reference;",
    "    return { ...reference, artifactId: key.uploadId };",
  ),
  upload(
    "F3",
    "an operation is not repeated",
    "if (!lost || tries === TRIES || signal?.aborted) throw error;",
    "throw error;",
  ),
  upload(
    "F3",
    "an operation is repeated for ever",
    "!lost || tries === TRIES ||",
    "!lost || tries === 99 ||",
  ),
  upload("F3", "a refusal is repeated", "if (!lost || tries === TRIES", "if (tries === TRIES"),
  upload(
    "F3",
    "parts are longer than an append",
    "source.subarray(start, start + LIMITS.appendBytes)",
    "source.subarray(start)",
  ),
  upload(
    "F3",
    "parts lie at other offsets",
    "artifacts.append({ ...key, offset, bytes })",
    "artifacts.append({ ...key, offset: size, bytes })",
  ),

  upload(
    "F4",
    "a failure leaves what was staged",
    "repeated(() => artifacts.abort(key), undefined, clock)",
    "Promise.resolve()",
  ),
  upload(
    "F4",
    "a cancel waits for the Host",
    "return await unlessAborted(operation(), signal);",
    "return await operation();",
  ),
  upload(
    "F4",
    "a cancel waits for the source",
    "const next = await unlessAborted(parts.next(), signal);",
    "const next = await parts.next();",
  ),
  upload(
    "F4",
    "a cancel waits for the abort",
    "await unlessAborted(aborting, signal).catch(() => {});",
    "await aborting;",
  ),
  upload("F4", "an upload begins after its cancel", "  signal.throwIfAborted();\n", ""),
  upload("F4", "the next operation follows a cancel", "    signal?.throwIfAborted();\n", ""),
  upload("F4", "a source is not released", "    void parts.return(undefined).catch(() => {});", ""),

  planterOf("src/resource/scope.ts", at("reading"))(
    "F5",
    "a file that is too large is opened and read up to the cap",
    "if (found.size > LIMITS.artifactBytes) throw tooLarge(path);",
    "",
  ),
  reading(
    "F5",
    "a file that grows has no cap",
    "if (offset > LIMITS.artifactBytes) throw tooLarge(this.#path);",
    "",
  ),
  reading("F5", "a file that changed its size passes", "now.size !== this.#version.size || now", "now"),
  reading(
    "F5",
    "a file that was written to passes",
    "now.size !== this.#version.size || now.modified !== this.#version.modified",
    "now.size !== this.#version.size",
  ),
  upload(
    "F5",
    "a source has twice the cap",
    "if (size > LIMITS.artifactBytes) throw overflow(source.name);",
    "if (size > 2 * LIMITS.artifactBytes) throw overflow(source.name);",
  ),
  look("F5", "the way to a file is looked at once", "const ROUNDS = 8;", "const ROUNDS = 0;"),
  look(
    "F5",
    "the file may be another one by then",
    "isOpened(Deno.lstatSync(real)) && Deno.realPathSync(path) === real &&",
    "",
  ),
  look(
    "F5",
    "the folders may be others by then",
    "Deno.realPathSync(path) === real &&\n          trail.equals(Trail.of(folders));",
    "Deno.realPathSync(path) === real;",
  ),
  look("F5", "a busy folder is refused at once", "const TRIES = 5;", "const TRIES = 1;"),
  trail(
    "F2 F5",
    "a moved folder looks the same",
    "mark.ino === its.ino && mark.dev === its.dev && mark.changed",
    "mark.changed",
  ),
  trail(
    "F2 F5",
    "a new entry in a folder goes unnoticed",
    "mark.changed === its.changed &&\n          mark.modified === its.modified;",
    "true;",
  ),
  planterOf("src/resource/descriptor.ts", at("reading"))(
    "F5",
    "a file is closed twice",
    "    this.#number = undefined;\n",
    "",
  ),

  uri("F6", "an escaped slash is part of a path", "/%(2F|5C|00)/i", "/%(5C|00)/i"),
  uri("F6", "an escaped backslash is part of a path", "/%(2F|5C|00)/i", "/%(2F|00)/i"),
  uri("F6", "an escaped NUL is part of a path", "/%(2F|5C|00)/i", "/%(2F|5C)/i"),
  uri(
    "F6",
    "escapes that are not UTF-8 are guessed",
    "return decodeURIComponent(text);",
    "return unescape(text);",
  ),
  uri(
    "F6",
    "escapes are taken for letters",
    "const path = pathOf(uri, decode(uri, location), system);",
    "const path = pathOf(uri, location, system);",
  ),
  uri(
    "F6",
    "the files of other machines are taken for own ones",
    'if (host !== "" && host !== "localhost") {',
    'if (host === "example.org") {',
  ),
  uri(
    "F6",
    "localhost is another machine",
    'if (host !== "" && host !== "localhost") {',
    'if (host !== "") {',
  ),
  uri("F6", "a line range is lost", "parseLines(fragment) ?? linesOfQuery(query)", "linesOfQuery(query)"),
  uri(
    "F6",
    "a range in the query is lost",
    "parseLines(fragment) ?? linesOfQuery(query)",
    "parseLines(fragment)",
  ),
  uri(
    "F6",
    "a range that was selected backwards stays so",
    "{ from: Math.min(one, other), to: Math.max(one, other) }",
    "{ from: one, to: other }",
  ),
  uri(
    "F6",
    "a path is cut at a # in it",
    'parseLines(fragment) === undefined && fragment.includes("/")',
    'parseLines(fragment) === undefined && fragment === "/"',
  ),
  uri(
    "F6",
    "a path is cut at a ? in it",
    'query.includes("/") && !query.includes("=")',
    'query === "/" && !query.includes("=")',
  ),
  uri(
    "F6",
    "a query is part of the path",
    "const location = mark < 0 ? beforeHash : beforeHash.slice(0, mark);",
    "const location = beforeHash;",
  ),
  uri(
    "F6",
    "a bare path is read like a URI",
    'return { kind: "file", path: "/" + segmentsOf(uri).join("/") };',
    'return { kind: "file", path: "/" + segmentsOf(decode(uri, uri)).join("/") };',
  ),
  uri(
    "F6",
    "control characters are part of a path",
    "if (/[\\x00-\\x1f\\x7f]/.test(uri)) throw",
    'if (uri === "\\x00") throw',
  ),
  uri("F6", "half a pair is part of a path", "if (!uri.isWellFormed()) throw", 'if (uri === "") throw'),
  uri("F6", "a link has any length", "if (uri.length * 3 > limit && (", "if (limit === 0 && ("),
  uri(
    "F6",
    "a drive is a path everywhere",
    "  if (!system.windows) {\n    throw",
    "  if (system.windows === undefined) {\n    throw",
  ),
  uri(
    "F6",
    "an alternate stream is a file",
    'segments.some((segment) => /[:*?"<>|]/.test(segment))',
    'segments.some((segment) => /[*?"<>|]/.test(segment))',
  ),
  uri("F6", "drives keep their case", "${drive[1]!.toUpperCase()}:", "${drive[1]!}:"),
  planterOf("src/resource/path.ts", at("uri"))(
    "F6",
    "dots stay in a path",
    'if (segment === "..") segments.pop();',
    'if (segment === "...") segments.pop();',
  ),
];
