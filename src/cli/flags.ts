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

/** Which Host serves an editor. */
export type HostChoice =
  /** One in this process. */
  | { readonly kind: "none" }
  /** One that outlives the editor: the running one, else one that is started. */
  | { readonly kind: "auto" }
  /** The one behind a socket, or of a state folder. None is started. */
  | { readonly kind: "path"; readonly path: string };

/** How a Host in a process of its own listens. */
export const TRANSPORTS = ["socket", "web"] as const;

/** How a Host in a process of its own listens. */
export type TransportName = typeof TRANSPORTS[number];

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
  /** Absent: what the configuration says, else `none`. */
  readonly host?: HostChoice;
  /** Seconds without work after which a Host in a process of its own leaves. */
  readonly idle?: number;
  /** How such a Host listens. */
  readonly transport?: TransportName;
}

/** What is done with a Host in a process of its own. */
export const HOST_ACTIONS = ["run", "status", "stop"] as const;

/** What is done with Sessions from a terminal. */
export const SESSION_ACTIONS = ["list", "show", "delete"] as const;

/** What a command prints, and how. */
export interface PrintOptions {
  /** For programs instead of people. */
  readonly json: boolean;
  /** Everything, however much it is. */
  readonly all: boolean;
}

/** What a command line asks for. */
export type Command =
  | { readonly kind: "serve"; readonly options: ServeOptions }
  | { readonly kind: "doctor"; readonly options: ServeOptions }
  | {
    readonly kind: "host";
    readonly action: typeof HOST_ACTIONS[number];
    readonly options: ServeOptions;
    readonly print: PrintOptions;
  }
  | {
    readonly kind: "sessions";
    readonly action: typeof SESSION_ACTIONS[number];
    /** Which Session; a part of its id will do. Empty for a list. */
    readonly sessionId: string;
    readonly options: ServeOptions;
    readonly print: PrintOptions;
  }
  | { readonly kind: "demo" }
  /** `about` names a command. */
  | { readonly kind: "help"; readonly about?: "host" | "sessions" }
  | { readonly kind: "version" }
  /** Not understood; `message` says what and what to do instead. */
  | { readonly kind: "mistake"; readonly message: string };

const COMMANDS = ["serve", "demo", "doctor", "host", "sessions", "help"] as const;
const TEXT_FLAGS = [
  ...["agent", "config", "state", "host", "idle", "transport", "log-level", "log-file"] as const,
] as const;
const PLAIN_FLAGS = ["memory", "json", "all", "help", "version"] as const;

/** Understands a command line. Never throws; permission flags of a binary are taken out before. */
export function parseCommand(args: readonly string[]): Command {
  const mistakes: string[] = [];
  const { own, agent } = splitCommand(args);
  const parsed = parseArgs([...own], {
    // An id of digits stays the text that it is.
    string: ["_", ...TEXT_FLAGS],
    boolean: [...PLAIN_FLAGS],
    alias: { h: "help", V: "version" },
    unknown: (arg, key) => {
      if (key === undefined) return true;
      mistakes.push(unknownFlag(arg));
      return false;
    },
  });
  if (parsed.help) return helpOn(parsed._);
  if (parsed.version) return { kind: "version" };
  const [name = "serve", ...words] = parsed._.map(String);
  const command = COMMANDS.find((command) => command === name);
  const { action, surplus } = actionOf(command, words, mistakes);
  if (command === undefined) mistakes.unshift(unknownCommand(name));
  else if (surplus !== undefined) mistakes.push(`"${command}" takes no argument like "${surplus}"`);
  const options = serveOptions(parsed, agent, mistakes);
  const mistake = mistakes[0];
  if (command === undefined || mistake !== undefined) return { kind: "mistake", message: mistake ?? "" };
  if ((command === "host" || command === "sessions") && (agent ?? options.agent) !== undefined) {
    return { kind: "mistake", message: `"${command}" takes no agent: editors bring their own` };
  }
  const print = { json: parsed.json === true, all: parsed.all === true };
  switch (command) {
    case "serve":
    case "doctor":
      return { kind: command, options };
    case "host":
      return { kind: command, action: action as typeof HOST_ACTIONS[number], options, print };
    case "sessions":
      return {
        kind: command,
        action: action as typeof SESSION_ACTIONS[number],
        sessionId: words[1] ?? "",
        options,
        print,
      };
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
  const host = text("host");
  if (host !== undefined && host !== "none" && parsed.memory === true) {
    mistakes.push(
      `"--host" and "--memory" contradict each other: a Host in a process of its own keeps Sessions`,
    );
  }
  const idle = text("idle");
  if (idle && !/^\d{1,7}$/.test(idle)) mistakes.push(`"--idle" takes a number of seconds, not "${idle}"`);
  const named = text("transport");
  const transport = TRANSPORTS.find((known) => known === named);
  if (named && transport === undefined) {
    mistakes.push(`"${named}" is no transport: take one of ${TRANSPORTS.join(", ")}`);
  }
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
    ...(host !== undefined && { host: hostChoice(host) }),
    ...(idle !== undefined && { idle: Number(idle) }),
    ...(transport !== undefined && { transport }),
  };
}

/** Understands what `--host` and the configuration say. */
export function hostChoice(text: string): HostChoice {
  return text === "auto" || text === "none" ? { kind: text } : { kind: "path", path: text };
}

/** The action of a command that has several, and the first word that it has no use for. */
function actionOf(
  command: typeof COMMANDS[number] | undefined,
  words: readonly string[],
  mistakes: string[],
): { readonly action?: string; readonly surplus?: string } {
  if (command !== "host" && command !== "sessions") return { surplus: words[0] };
  const known = command === "host" ? HOST_ACTIONS : SESSION_ACTIONS;
  const [word = known[0], id] = words;
  const action = known.find((each) => each === word);
  if (action === undefined) {
    mistakes.unshift(`"${command}" has no "${word}": take one of ${known.join(", ")}`);
    return {};
  }
  const takesId = action === "show" || action === "delete";
  if (takesId && id === undefined) mistakes.unshift(`Say which Session: gangway sessions ${action} ID`);
  return { action, surplus: words[takesId ? 2 : 1] };
}

function helpOn(words: readonly unknown[]): Command {
  const about = (["host", "sessions"] as const).find((name) => name === words[0]);
  return about === undefined ? { kind: "help" } : { kind: "help", about };
}

function example(flag: typeof TEXT_FLAGS[number]): string {
  return {
    agent: "workbench",
    config: "FILE",
    state: "FOLDER",
    host: "auto",
    idle: "900",
    transport: "socket",
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
