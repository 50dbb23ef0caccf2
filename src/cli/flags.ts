import { parseArgs } from "@std/cli/parse-args";
import { permissionFlag } from "./permissions.ts";

/** How much a log holds, from most to least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** The least severe message that a log keeps. */
export type LogLevel = typeof LOG_LEVELS[number];

/** Where Sessions are to be kept. */
export type StoreChoice =
  | { readonly kind: "default" }
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "memory" };

/** How to serve. */
export interface ServeOptions {
  /** Name of the Engine for new Sessions; the workbench where absent. */
  readonly agent?: string;
  readonly store: StoreChoice;
  /** Absent: `info` where a log file is named, else silent. */
  readonly logLevel?: LogLevel;
  /** Absent: stderr. */
  readonly logFile?: string;
}

/** What a command line asks for. */
export type Command =
  | { readonly kind: "serve"; readonly options: ServeOptions }
  | { readonly kind: "doctor"; readonly options: ServeOptions }
  | { readonly kind: "demo" }
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  /** Not understood; `message` says what and what to do instead. */
  | { readonly kind: "mistake"; readonly message: string };

const COMMANDS = ["serve", "demo", "doctor", "help"] as const;
const TEXT_FLAGS = ["agent", "state", "log-level", "log-file"] as const;
const PLAIN_FLAGS = ["memory", "help", "version"] as const;

/** Understands a command line. Never throws; permission flags of a binary are taken out before. */
export function parseCommand(args: readonly string[]): Command {
  const mistakes: string[] = [];
  const parsed = parseArgs([...args], {
    string: [...TEXT_FLAGS],
    boolean: [...PLAIN_FLAGS],
    alias: { h: "help", V: "version" },
    unknown: (arg, key) => {
      if (key === undefined) return true;
      mistakes.push(unknownFlag(arg));
      return false;
    },
  });
  if (parsed.help) return { kind: "help" };
  if (parsed.version) return { kind: "version" };
  const [name = "serve", ...surplus] = parsed._.map(String);
  const command = COMMANDS.find((command) => command === name);
  if (command === undefined) mistakes.unshift(unknownCommand(name));
  else if (surplus.length > 0) mistakes.push(`"${command}" takes no argument like "${surplus[0]}"`);
  const options = serveOptions(parsed, mistakes);
  const mistake = mistakes[0];
  if (command === undefined || mistake !== undefined) return { kind: "mistake", message: mistake ?? "" };
  switch (command) {
    case "serve":
    case "doctor":
      return { kind: command, options };
    case "demo":
    case "help":
      return { kind: command };
  }
}

function serveOptions(parsed: Record<string, unknown>, mistakes: string[]): ServeOptions {
  const text = (flag: typeof TEXT_FLAGS[number]): string | undefined => {
    const value = parsed[flag];
    if (typeof value !== "string") return undefined;
    if (value === "") mistakes.push(`"--${flag}" needs a value: --${flag}=${example(flag)}`);
    return value;
  };
  const folder = text("state");
  const level = text("log-level");
  const logLevel = LOG_LEVELS.find((known) => known === level);
  if (level && logLevel === undefined) {
    mistakes.push(`"${level}" is no log level: take one of ${LOG_LEVELS.join(", ")}`);
  }
  if (folder !== undefined && parsed.memory === true) {
    mistakes.push(`"--state" and "--memory" contradict each other: name one of them`);
  }
  return {
    agent: text("agent"),
    store: folder !== undefined
      ? { kind: "folder", folder }
      : { kind: parsed.memory === true ? "memory" : "default" },
    logLevel,
    logFile: text("log-file"),
  };
}

function example(flag: typeof TEXT_FLAGS[number]): string {
  return { agent: "workbench", state: "FOLDER", "log-level": "info", "log-file": "FILE" }[flag];
}

function unknownFlag(arg: string): string {
  const flag = arg.split("=", 1)[0] ?? arg;
  if (permissionFlag(arg) !== undefined || /^--(allow|deny|ignore)-/.test(arg) || flag === "--no-prompt") {
    return `"${flag}" is a flag of Deno's: put it before the program, as in deno run ${flag} mod.ts`;
  }
  const near = nearest(flag.replace(/^-+/, ""), [...TEXT_FLAGS, ...PLAIN_FLAGS]);
  return `Unknown flag "${flag}"` +
    (near === undefined ? ": --help lists them" : `: did you mean "--${near}"?`);
}

function unknownCommand(name: string): string {
  const near = nearest(name, COMMANDS);
  return `Unknown command "${name}"` +
    (near === undefined ? ": --help lists them" : `: did you mean "${near}"?`);
}

/** The known word that begins most like a mistyped one; undefined where not even two letters agree. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const agreeing = (candidate: string) => {
    let length = 0;
    while (length < word.length && word[length] === candidate[length]) length++;
    return length;
  };
  const best = known.toSorted((a, b) => agreeing(b) - agreeing(a))[0];
  return best !== undefined && agreeing(best) >= 2 ? best : undefined;
}
