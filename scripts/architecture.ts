/**
 * A lint plugin that holds the arrows of the architecture: which folder may import which, who may use the protocol's SDK, SQLite,
 * the process's own streams, the machine, and the clock.
 *
 * @module
 */

/** The part of `src/` that a file belongs to. */
export function roomOf(path: string): string {
  const [first = "", second = "", third] = path.split("/");
  if (second === "") return first.replace(/\.ts$/, "");
  if (first === "session" && ["ports.ts", "draft.ts", "errors.ts"].includes(second)) return "session/ports";
  if (first === "host" || first === "engine") {
    if (third !== undefined) return `${first}/${second}`;
    return second === "mod.ts" ? `${first}/mod` : first;
  }
  return first;
}

/** What each room may import besides itself and the vocabulary: `model` and `limits`. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  limits: [],
  model: [],
  system: [],
  wire: [],
  "session/ports": ["host"],
  host: [],
  engine: ["host"],
  "engine/acp": ["engine", "host", "wire"],
  "host/store": ["host"],
  "host/wire": ["host", "wire"],
  "host/local": ["host", "host/store", "engine"],
  "host/mod": ["host", "host/store", "host/local", "host/wire"],
  "engine/mod": ["engine", "engine/workbench", "engine/acp", "engine/claude"],
  projection: ["session/ports", "host"],
  interaction: ["session/ports", "host", "projection"],
  resource: ["session/ports", "host"],
  session: ["session/ports", "host", "projection", "interaction", "resource"],
  acp: ["session/ports", "host", "session", "projection", "wire"],
};

/** Rooms that every other may import. */
const VOCABULARY = ["model", "limits"];

/** Engines see the contracts, and no other Engine. */
const ENGINE = ["engine", "host"];

/** Packages with a limited number of users; the others are free for everybody. */
const PACKAGES: readonly (readonly [string, (room: string) => boolean])[] = [
  [
    "@agentclientprotocol/sdk",
    (room) => ["acp", "projection", "interaction", "engine/acp"].includes(room),
  ],
  ["node:sqlite", (room) => room === "host/store"],
  ["@std/cli", (room) => room === "cli"],
];

/** Why a file (relative to `src/`) may not import this; undefined where it may. `target` is relative to `src/` for own files. */
export function forbiddenImport(file: string, target: string): string | undefined {
  const from = roomOf(file);
  const limited = PACKAGES.find(([name]) => target === name || target.startsWith(`${name}/`));
  if (limited !== undefined) return limited[1](from) ? undefined : `"${from}" may not import "${limited[0]}"`;
  if (!target.endsWith(".ts") || from === "cli") return undefined;
  const to = roomOf(target);
  const allowed = ARROWS[from] ?? (from.startsWith("engine/") ? ENGINE : []);
  return to === from || VOCABULARY.includes(to) || allowed.includes(to)
    ? undefined
    : `"${from}" may not import "${to}"`;
}

/** Globals that only some files may use. */
const GLOBALS: readonly (readonly [RegExp, (file: string, room: string) => boolean])[] = [
  // stdout belongs to the protocol.
  [/^(Deno|process)\.(stdin|stdout)$/, (file, room) => file === "acp/stdio.ts" || room === "cli"],
  // The machine is reached at the edges, errors to compare with from everywhere.
  [
    /^Deno\.(?!errors$|build$)/,
    (file, room) =>
      ["acp/stdio.ts", "engine/command.ts"].includes(file) ||
      /^(cli|resource|host\/.+|engine\/.+)$/.test(room),
  ],
  // Time comes in by an argument, so that it can be replayed.
  [
    /^(setTimeout|setInterval|Date\.now|new Date|performance\.now|fetch|Math\.random|crypto\.randomUUID)$/,
    (_, room) => !["projection", "interaction", "session", "model"].includes(room),
  ],
];

/** Why a file (relative to `src/`) may not use this global, as in `Deno.stdout`; undefined where it may. */
export function forbiddenGlobal(file: string, name: string): string | undefined {
  const room = roomOf(file);
  const found = GLOBALS.find(([pattern, allows]) => pattern.test(name) && !allows(file, room));
  return found === undefined ? undefined : `"${room}" may not use "${name}"`;
}

/** A path below `src/`, relative to it; undefined for all other files. */
function belowSource(path: string): string | undefined {
  const at = path.replaceAll("\\", "/").lastIndexOf("/src/");
  return at < 0 ? undefined : path.slice(at + "/src/".length).replaceAll("\\", "/");
}

/** The rule, as `deno lint` runs it. */
const arrows: Deno.lint.Rule = {
  create(context) {
    const file = belowSource(context.filename);
    if (file === undefined) return {};
    const imported = (node: Deno.lint.Node | null) => {
      if (node?.type !== "Literal" || typeof node.value !== "string") return;
      const target = node.value.startsWith(".")
        ? new URL(node.value, `file:///src/${file}`).pathname.replace(/^\/src\//, "")
        : node.value;
      const message = forbiddenImport(file, target);
      if (message !== undefined) context.report({ node, message });
    };
    const used = (node: Deno.lint.Node, name: string) => {
      const message = forbiddenGlobal(file, name);
      if (message !== undefined) context.report({ node, message });
    };
    return {
      ImportDeclaration: (node) => imported(node.source),
      ExportAllDeclaration: (node) => imported(node.source),
      ExportNamedDeclaration: (node) => imported(node.source),
      ImportExpression: (node) => imported(node.source),
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
        used(node, `${node.object.name}.${node.property.name}`);
      },
      NewExpression(node) {
        // With an argument it is a conversion, without one a look at the clock.
        if (node.callee.type === "Identifier" && node.arguments.length === 0) {
          used(node, `new ${node.callee.name}`);
        }
      },
      CallExpression(node) {
        if (node.callee.type === "Identifier") used(node, node.callee.name);
      },
    };
  },
};

/** The plugin, named in `deno.json`. */
const plugin: Deno.lint.Plugin = { name: "gangway", rules: { arrows } };
export default plugin;
