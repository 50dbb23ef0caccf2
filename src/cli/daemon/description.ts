import type { ConfiguredAgent } from "../config.ts";
import { z } from "zod";

/** An agent as an editor's Gangway describes it to the Host, which then starts it. */
export interface AgentDescription {
  readonly engineId: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Where it is started. */
  readonly cwd: string;
  /** Its own variables, besides those that all agents of the editor have. */
  readonly env: Readonly<Record<string, string>>;
  /** Values of its options in new Sessions. */
  readonly options: Readonly<Record<string, string | boolean>>;
}

/** What an editor's Gangway says of itself when it comes to a Host. */
export interface Introduction {
  /** The agent of its new Sessions. */
  readonly defaultEngine: string;
  /** Whether the workbench was asked for, or answers because no agent was named. */
  readonly workbench: "chosen" | "fallback";
  readonly agents: readonly AgentDescription[];
  /** The variables of the editor that all of its agents have. */
  readonly environment: Readonly<Record<string, string>>;
}

const text = z.string().max(8192);
const variables = z.record(z.string().max(256), z.string().max(32_768));

const agent: z.ZodType<AgentDescription> = z.object({
  engineId: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/),
  program: text.min(1),
  args: z.array(text).max(256),
  cwd: text,
  env: variables,
  options: z.record(z.string(), z.union([z.string(), z.boolean()])),
});

/** Reads agents as they were written down. */
export const descriptions: z.ZodType<readonly AgentDescription[]> = z.array(agent).max(1024);

const introduction: z.ZodType<Introduction> = z.object({
  defaultEngine: z.string().max(64),
  workbench: z.enum(["chosen", "fallback"]),
  agents: descriptions,
  environment: variables,
});

/** Reads what an editor's Gangway said; undefined where that cannot be understood. */
export function introductionOf(details: unknown): Introduction | undefined {
  const read = introduction.safeParse(details);
  return read.success ? read.data : undefined;
}

/** Describes a configured agent. `variable` reads one of the editor's variables, if it may. */
export function describeAgent(
  engineId: string,
  configured: ConfiguredAgent,
  here: { readonly cwd: string; readonly variable: (name: string) => string | undefined },
): AgentDescription {
  const { command, args = [], env = {}, passEnv = [], cwd = here.cwd, options = {} } = configured;
  const passed = passEnv.flatMap((name) => {
    const value = here.variable(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { engineId, program: command, args, cwd, env: { ...Object.fromEntries(passed), ...env }, options };
}
