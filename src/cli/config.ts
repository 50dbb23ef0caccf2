import { z } from "zod";

/** What a name of an agent looks like. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** An agent as a configuration file names it. */
export interface ConfiguredAgent {
  /** The program: a path, or a name in PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables beside those that it inherits. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of the editor's variables that it has where the Host is a process of its own. */
  readonly passEnv?: readonly string[];
  readonly cwd?: string;
  /** Values of its options in new Sessions, by their ids. */
  readonly options?: Readonly<Record<string, string | boolean>>;
}

/** A configuration file's content. */
export interface Config {
  readonly $schema?: string;
  /** By the name that `--agent` takes. */
  readonly agents?: Readonly<Record<string, ConfiguredAgent>>;
  /** The agent of new Sessions where none is named. */
  readonly defaultAgent?: string;
  /** Which Host serves editors, as in `--host`. */
  readonly host?: string;
}

const agent: z.ZodType<ConfiguredAgent> = z.strictObject({
  command: z.string().min(1).describe("The program: a path, or a name in PATH"),
  args: z.array(z.string()).optional().describe("Its arguments"),
  env: z.record(z.string(), z.string()).optional().describe("Variables beside those that it inherits"),
  passEnv: z.array(z.string().min(1)).optional().describe(
    "Names of the editor's variables that it has with --host, beside PATH, HOME, LANG and their like",
  ),
  cwd: z.string().min(1).optional().describe("Where it is started; Sessions bring their own folders"),
  options: z.record(z.string(), z.union([z.string(), z.boolean()])).optional()
    .describe("Values of its options in new Sessions, by their ids"),
});

const schema: z.ZodType<Config> = z.strictObject({
  $schema: z.string().optional(),
  agents: z.record(z.string().regex(NAME), agent).optional().describe(
    "Agents by the name that --agent takes",
  ),
  defaultAgent: z.string().optional().describe("The agent of new Sessions where none is named"),
  host: z.string().min(1).optional().describe(
    'Which Host serves editors: "auto" (one that outlives the editor), "none" (in process), or a socket\'s path',
  ),
});

/** What reading a configuration came to; `why` is a sentence that names the place in the file. */
export type ReadConfig =
  | { readonly kind: "config"; readonly config: Config }
  | { readonly kind: "refused"; readonly why: string };

/** Reads a configuration. `file` is how a person named it. */
export function readConfig(text: string, file: string): ReadConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "refused", why: `"${file}" is no JSON: ${error instanceof Error ? error.message : ""}` };
  }
  const read = schema.safeParse(value);
  if (!read.success) return { kind: "refused", why: `"${file}": ${sentenceOf(read.error)}` };
  const { agents = {}, defaultAgent } = read.data;
  if (defaultAgent !== undefined && defaultAgent !== "workbench" && !(defaultAgent in agents)) {
    return {
      kind: "refused",
      why: `"${file}": defaultAgent is "${defaultAgent}", which "agents" does not have`,
    };
  }
  if ("workbench" in agents) {
    return {
      kind: "refused",
      why: `"${file}": agents.workbench is a name that Gangway uses itself: take another`,
    };
  }
  return { kind: "config", config: read.data };
}

/** The JSON schema of a configuration file, for editors. */
export function configSchema(): Record<string, unknown> {
  return z.toJSONSchema(schema, { target: "draft-7" });
}

/** The first fault, with its path. A name that is mistyped comes before what is then missing. */
function sentenceOf({ issues }: z.ZodError): string {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) return "it cannot be understood";
  const place = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.map((key) => place === "" ? key : `${place}.${key}`);
    return `${keys.join(", ")} ${
      keys.length === 1 ? "is not a setting" : "are no settings"
    } that Gangway knows`;
  }
  if (issue.code === "invalid_key") return `${place} is no name: take letters, digits, "_", "." and "-"`;
  return `${place || "the file"}: ${issue.message}`;
}
