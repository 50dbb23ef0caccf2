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
  /** Name of the agent of new Sessions. */
  readonly agent?: string;
  /** Program and arguments of an agent, as they stand behind `--`. */
  readonly command?: readonly string[];
  /** The configuration file; the usual one where absent. */
  readonly config?: string;
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
const TEXT_FLAGS = ["agent", "config", "state", "log-level", "log-file"] as const;
const PLAIN_FLAGS = ["memory", "help", "version"] as const;

/** Understands a command line. Never throws; permission flags of a binary are taken out before. */
export function parseCommand(args: readonly string[]): Command {
  const mistakes: string[] = [];
  const { own, agent } = splitCommand(args);
  const parsed = parseArgs([...own], {
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
  const options = serveOptions(parsed, agent, mistakes);
  const mistake = mistakes[0];
  if (command === undefined || mistake !== undefined) return { kind: "mistake", message: mistake ?? "" };
  switch (command) {
    case "serve":
    case "doctor":
      return { kind: command, options };
    case "demo":
    case "help":
      if (agent === undefined) return { kind: command };
      return { kind: "mistake", message: `"${command}" takes no agent behind "--"` };
  }
}

/** A command line up to its first `--`, and the agent's words behind it; undefined without `--`. */
export function splitCommand(
  args: readonly string[],
): { readonly own: readonly string[]; readonly agent?: readonly string[] } {
  const at = args.indexOf("--");
  return at < 0 ? { own: args } : { own: args.slice(0, at), agent: args.slice(at + 1) };
}

/** A person logs in to an agent in this terminal. */
export interface LoginRequest {
  /** Which agent. */
  readonly agent: string;
  /** Names of variables that were set for this. */
  readonly variables: readonly string[];
  /** Further arguments of the agent. */
  readonly args: readonly string[];
}

/** Begins the word that an editor puts behind Gangway's own when it starts the agent in a terminal. */
const LOGIN = "--gangway-login=";

/** The words by which {@linkcode splitLogin} knows that somebody logs in. */
export function loginWords(agent: string, variables: readonly string[]): readonly string[] {
  return [LOGIN + [agent, ...variables].join(",")];
}

/** A command line with what an editor put behind it, where somebody logs in; what follows then is the agent's. */
export function splitLogin(
  args: readonly string[],
): { readonly own: readonly string[]; readonly login?: LoginRequest } {
  const at = args.findIndex((arg) => arg.startsWith(LOGIN));
  const word = args[at];
  if (word === undefined) return { own: args };
  const [agent = "", ...variables] = word.slice(LOGIN.length).split(",");
  return { own: args.slice(0, at), login: { agent, variables, args: args.slice(at + 1) } };
}

function serveOptions(
  parsed: Record<string, unknown>,
  command: readonly string[] | undefined,
  mistakes: string[],
): ServeOptions {
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
  const agent = text("agent");
  const config = text("config");
  if (command?.length === 0) mistakes.push(`"--" is followed by the agent's command, as in -- gemini --acp`);
  if (command !== undefined && agent !== undefined) {
    mistakes.push(`"--agent" and a command behind "--" contradict each other: name one of them`);
  }
  return {
    agent,
    ...(command !== undefined && { command }),
    ...(config !== undefined && { config }),
    store: folder !== undefined
      ? { kind: "folder", folder }
      : { kind: parsed.memory === true ? "memory" : "default" },
    logLevel,
    logFile: text("log-file"),
  };
}

function example(flag: typeof TEXT_FLAGS[number]): string {
  return {
    agent: "workbench",
    config: "FILE",
    state: "FOLDER",
    "log-level": "info",
    "log-file": "FILE",
  }[flag];
}

function unknownFlag(arg: string): string {
  const flag = arg.split("=", 1)[0] ?? arg;
  if (permissionFlag(arg) !== undefined || /^--(allow|deny|ignore)-/.test(arg) || flag === "--no-prompt") {
    return `"${flag}" is a flag of Deno's: put it before the program, as in deno run ${flag} PROGRAM`;
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
