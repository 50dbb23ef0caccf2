import type { AgentCommand } from "../engine/acp/mod.ts";
import type { ConfiguredAgent } from "./config.ts";
import type { Engine } from "../engine/contract.ts";
import type { Log } from "../model/log.ts";
import type { Machine } from "./state.ts";
import { loginWords, type ServeOptions } from "./flags.ts";
import { VERSION } from "./version.ts";
import { workbench } from "../engine/workbench/mod.ts";

/** The agent that is always there. */
export const WORKBENCH = "workbench";

/** The agents that Sessions may have, and the one of new Sessions. */
export interface Roster {
  readonly kind: "roster";
  readonly engines: readonly Engine[];
  readonly defaultEngine: string;
  /** How agents are started, by their names; the workbench is not among them. */
  readonly commands: Readonly<Record<string, AgentCommand>>;
  /** The same agents as they are configured. */
  readonly agents: Readonly<Record<string, ConfiguredAgent>>;
  /** Whether the workbench was asked for, or answers because no agent was named. */
  readonly workbench: "chosen" | "fallback";
  /** What the configuration says of the Host. */
  readonly host?: string;
}

/** What making a roster came to; `why` is a sentence for the user. */
export type RosterOrRefusal = Roster | { readonly kind: "refused"; readonly why: string };

/** What a roster is made from. */
export interface RosterParts {
  readonly options: ServeOptions;
  readonly machine: Machine;
  readonly log: Log;
  /** Where what agents said about themselves is kept; nowhere where absent. */
  readonly folder?: string;
}

/** Knows every agent that the command line and the configuration name. Starts none. */
export async function openRoster(parts: RosterParts): Promise<RosterOrRefusal> {
  const { options, machine } = parts;
  const found = findConfig(options.config, machine);
  if (found.kind === "refused") return found;
  const agents: Record<string, ConfiguredAgent> = {};
  let preferred: string | undefined;
  let host: string | undefined;
  if (found.kind === "file") {
    const { readConfig } = await import("./config.ts");
    const read = readConfig(found.text, found.file);
    if (read.kind === "refused") return read;
    Object.assign(agents, read.config.agents);
    preferred = read.config.defaultAgent;
    host = read.config.host;
  }
  const [program, ...args] = options.command ?? [];
  const own = program === undefined ? undefined : nameOf(program, args);
  if (own !== undefined && program !== undefined) agents[own] = { command: program, args };
  const name = own ?? options.agent ?? preferred;
  if (name !== undefined && name !== WORKBENCH && !(name in agents)) {
    const known = [WORKBENCH, ...Object.keys(agents)].map((each) => `"${each}"`).join(", ");
    return { kind: "refused", why: `There is no agent "${name}": there is ${known}` };
  }
  const reason = name === undefined ? "fallback" : "chosen";
  return {
    kind: "roster",
    engines: [
      workbench({ reason }),
      ...await enginesOf(agents, parts),
    ],
    defaultEngine: name ?? WORKBENCH,
    agents,
    workbench: reason,
    ...(host !== undefined && { host }),
    commands: Object.fromEntries(Object.entries(agents).map(([id, agent]) => [id, commandOf(agent)])),
  };
}

/** A configured agent's command. */
export function commandOf({ command, args = [], env, cwd }: ConfiguredAgent): AgentCommand {
  return { program: command, args, ...(env !== undefined && { env }), ...(cwd !== undefined && { cwd }) };
}

/** Loaded only where there are agents: the handshake of the workbench does without. */
async function enginesOf(
  agents: Record<string, ConfiguredAgent>,
  { log, folder }: RosterParts,
): Promise<readonly Engine[]> {
  if (Object.keys(agents).length === 0) return [];
  const [{ acpEngine }, { openMemory }] = await Promise.all([
    import("../engine/acp/mod.ts"),
    import("./memory.ts"),
  ]);
  return Object.entries(agents).map(([engineId, agent]) => {
    const command = commandOf(agent);
    const memory = openMemory({ engineId, command, log, ...(folder !== undefined && { folder }) });
    return acpEngine({
      engineId,
      command,
      log,
      version: VERSION,
      terminal: { words: (variables) => loginWords(engineId, variables) },
      ...memory,
      ...(agent.options !== undefined && { preferred: agent.options }),
    });
  });
}

/** Programs that run others: what they run is the agent's name. */
const RUNNERS = /^(npx|bunx|pnpx|uvx|pipx|node|bun|deno|python3?|sh|bash|env|cmd|npm|pnpm|yarn)$/;
/** Words by which a runner is told what to do. */
const VERBS = /^(run|exec|dlx|x|tool)$/;

/** A name that a command has for as long as it is about the same agent, whatever its flags. */
export function nameOf(program: string, args: readonly string[]): string {
  const first = last(program);
  const inner = RUNNERS.test(first)
    ? args.find((arg) => !arg.startsWith("-") && !VERBS.test(arg))
    : undefined;
  const name = last(inner ?? program).replace(/(?<=.)@[^@]*$/, "").replace(/\.(exe|cmd|m?[jt]s|py|sh)$/, "");
  const usable = name.replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 64);
  return usable === "" || usable === WORKBENCH ? "agent" : usable;
}

function last(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

type Found =
  | { readonly kind: "none" }
  | { readonly kind: "file"; readonly file: string; readonly text: string }
  | { readonly kind: "refused"; readonly why: string };

/** The file that was named, else the one in the user's configuration folder where there is one that may be read. */
function findConfig(named: string | undefined, machine: Machine): Found {
  const file = named ?? usualPlace(machine);
  if (file === undefined) return { kind: "none" };
  if (!machine.granted("read", file)) {
    if (named === undefined) return { kind: "none" };
    return { kind: "refused", why: `"${file}" cannot be read: start Gangway with --allow-read=${file}` };
  }
  try {
    return { kind: "file", file, text: Deno.readTextFileSync(file) };
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound;
    if (missing && named === undefined) return { kind: "none" };
    const reason = missing ? "there is no such file" : error instanceof Error ? error.message : String(error);
    return { kind: "refused", why: `"${file}" cannot be read: ${reason}` };
  }
}

/** The variables by which the usual place is known here, besides those that tell where state belongs. */
export function configVariables(machine: Machine): readonly string[] {
  if (machine.os === "windows") return ["APPDATA"];
  const answer = machine.env("XDG_CONFIG_HOME");
  return answer !== "denied" && answer.value ? ["XDG_CONFIG_HOME"] : [];
}

/** Where a user's configuration belongs on this operating system; undefined where that cannot be told. */
export function usualPlace(machine: Machine): string | undefined {
  const value = (variable: string) => {
    const answer = machine.env(variable);
    return answer === "denied" || !answer.value ? undefined : answer.value;
  };
  if (machine.os === "windows") {
    const data = value("APPDATA");
    return data && `${data}\\gangway\\gangway.json`;
  }
  const home = value("HOME");
  const folder = value("XDG_CONFIG_HOME") ?? (home && `${home}/.config`);
  return folder && `${folder}/gangway/gangway.json`;
}
