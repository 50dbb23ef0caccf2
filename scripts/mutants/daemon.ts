import { type Mutant, planterOf } from "./mutant.ts";

const transport = (name: string, ...tests: readonly string[]) =>
  planterOf(
    `src/host/wire/transport/${name}.ts`,
    ...tests.map((test) => `tests/host/wire/transport/${test}_test.ts`),
  );
const daemon = (name: string, test = "daemon") =>
  planterOf(`src/cli/daemon/${name}.ts`, `tests/cli/daemon/${test}_test.ts`);
const session = (name: string) => planterOf(`src/session/${name}.ts`, "tests/session/leaving_test.ts");

const ownPlace = transport("own_place", "place");
const socket = transport("socket", "place");
const endpoint = transport("endpoint", "place");
const hostLock = transport("host_lock", "place");
const web = transport("web", "strangers");
const proof = transport("proof", "strangers");
const pipe = transport("web_pipe", "strangers");

/** Faults of a Host in a process of its own: who reaches it, and what outlives an editor. */
export const DAEMON_MUTANTS: readonly Mutant[] = [
  ownPlace(
    "W4",
    "a folder or file of another user is trusted",
    "if (info.uid !== owner) throw",
    "if (info.uid === -1) throw",
  ),
  ownPlace(
    "W4",
    "what is open to others is trusted",
    "(info.mode & 0o077) !== 0",
    "(info.mode & 0o007) === 0o007",
  ),
  ownPlace(
    "W4",
    "only the folder is looked at",
    "  checkPrivate(path, kind, owner);\n}\n\ntype Kind",
    "}\n\ntype Kind",
  ),
  ownPlace(
    "W4",
    "the folder is not looked at",
    '  checkPrivate(dirname(path), "folder", owner);\n',
    "",
  ),
  ownPlace(
    "W4",
    "links are followed",
    "  const info = Deno.lstatSync(path);",
    "  const info = Deno.statSync(path);",
  ),
  ownPlace(
    "W4",
    "a Host listens in a folder that is not its own",
    '  checkPrivate(path, "folder", owner);\n  return owner;',
    "  return owner;",
  ),
  socket(
    "W4",
    "a Host's socket is open to others",
    "    Deno.chmodSync(path, 0o600);\n",
    "    Deno.chmodSync(path, 0o666);\n",
  ),
  socket(
    "W4",
    "what lies in a socket's place is removed, whatever it is",
    "found.isSocket !== true",
    "found.isDirectory",
  ),
  socket(
    "W4",
    "a socket is dialled without a look at it",
    '  checkOwn(path, "socket", ownerIn(dirname(path)));\n  signal',
    "  signal",
  ),
  socket(
    "W3",
    "a stale socket keeps the next Host out",
    "  removeStale(path);\n  const listener",
    "  const listener",
  ),
  endpoint(
    "W4",
    "a notice is believed whoever wrote it",
    '    checkOwn(place.endpoint, "file", ownerIn(place.folder));\n',
    "",
  ),
  hostLock(
    "W3",
    "two Hosts have one state folder",
    "if (!file.tryLockSync(true)) {",
    "if (file.tryLockSync(true) === undefined) {",
  ),
  web(
    "W4",
    "a page of a browser is let in",
    'if (request.headers.has("origin"))',
    'if (request.headers.get("origin") === "")',
  ),
  web(
    "W4",
    "a name that was bound to this machine is let in",
    'if (request.headers.get("host") !== `${LOOPBACK}:${port}`)',
    'if (request.headers.get("host") === "")',
  ),
  web(
    "W4",
    "a Host takes whoever says something for a proof",
    '      await judge(await pipe.word(), "client", secret, challenge);\n',
    "      await pipe.word();\n",
  ),
  web(
    "W4",
    "a Client tells its proof to whoever holds the port",
    '  await judge(answer, "host", secret, challenge);\n',
    "",
  ),
  planterOf("src/host/wire/transport/web.ts", "tests/host/wire/transport/place_test.ts")(
    "W4",
    "a secret is used that others could have written",
    '  checkOwn(place.secret, "file", ownerIn(place.folder));\n',
    "",
  ),
  web(
    "W4",
    "the secret is always the same",
    "  const text = freshNonce();\n  writePrivate",
    '  const text = "0".repeat(64);\n  writePrivate',
  ),
  proof("W4", "a Host's proof can be turned back at it", "`gangway ${side} ${port}", "`gangway ${port}"),
  proof(
    "W4",
    "proofs can be passed on through another port",
    "`gangway ${side} ${port} ",
    "`gangway ${side} ",
  ),
  pipe(
    "W4",
    "who sends more than was asked for is kept",
    "      if (this.#received - this.#taken > WINDOW) return this.refuse();\n",
    "",
  ),
  session("session")(
    "W1",
    "an editor that leaves cancels its Turn",
    'this.#cancelAll("leave");',
    "this.#cancelAll();",
  ),
  session("presentation")(
    "W1",
    "whoever leaves stops the Turn",
    'if (reason !== "gone") return this.record({ type: "unwanted" });',
    'return this.record({ type: "unwanted" });',
  ),
  session("presentation")(
    "W1",
    "a cancel stops nothing",
    'if (reason !== "gone") return this.record({ type: "unwanted" });',
    "",
  ),
  daemon("editor_connection")(
    "W1",
    "a load does not wait for the editor that was killed",
    "      await settled(request.sessionId);\n",
    "",
  ),
  daemon("daemon")(
    "W1",
    "a Host leaves while a Turn is at work",
    "if (!isIdle(this.status)) this.#idleSince",
    "if (this.#wires > 0) this.#idleSince",
  ),
  daemon("daemon")(
    "W1",
    "a Host that was not used for long stays",
    '      if (left <= 0) return this.stop("idle");\n',
    "      if (left <= 0) return;\n",
  ),
  daemon("status")(
    "W1",
    "a Host at work counts as idle",
    "running + waiting === 0",
    "running + waiting >= 0",
  ),
  daemon("daemon")(
    "W2",
    "a wish that is none ends the Host",
    "    if (wish === undefined) {\n",
    "    if (wish === undefined) {\n      this.stop();\n",
  ),
  daemon("description", "parts")(
    "S9",
    "an agent has every variable that its editor has",
    "const passed = passEnv.flatMap(",
    'const passed = [...passEnv, "SECRET"].flatMap(',
  ),
  daemon("agent_book", "parts")(
    "S9",
    "variables are written down for the next Host",
    "({ ...description, env: {} })",
    "description",
  ),
  daemon("reach", "reach")(
    "W1",
    "a Host that gave up for another one ends the look for that one",
    "if (before !== undefined) {",
    "if (ended !== undefined) {",
  ),
  daemon("reach", "reach")(
    "W1",
    "a Host that found a leaving one is the last that is started",
    "const FAILURES = 2;",
    "const FAILURES = 1;",
  ),
  daemon("reach", "reach")(
    "W1",
    "a Host that had served and left counts as one that cannot be started",
    "before.code !== 0 && ++failures",
    "++failures",
  ),
];
