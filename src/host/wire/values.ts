import { z } from "zod";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { Command, PlanEntry, Usage } from "../../model/plan.ts";
import type { Config, ConfigChange, ConfigOption } from "../../model/config.ts";
import type { Answer, Grant, Interaction } from "../../model/question.ts";
import type { ExtensionAnswer, ExtensionEvent, ExtensionMessage } from "../../model/extension.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { LiveRun, Origin, Run, RunEnd } from "../../model/run.ts";
import type { TurnInput } from "../../model/prompt.ts";
import type { ClientServices, EngineProfile, McpServer, SessionInfo } from "../contract.ts";
import { isObject, type Shape, shape, variants } from "./shape.ts";

/** Any text. Ids are checked by the Host, which says more about them. */
export const text: Shape<string> = z.string();
/** Any number. */
export const number: Shape<number> = z.number();
/** A number of things, units or milliseconds. */
export const count: Shape<number> = z.number().min(0);
/** A sequence, offset or size. */
export const whole: Shape<number> = z.int().min(0);
/** Yes or no. */
export const flag: Shape<boolean> = z.boolean();
/** Anything. */
export const json: Shape<Json> = z.custom<Json>((value) => value !== undefined, "expected a value");
/** Any object. */
export const object: Shape<JsonObject> = z.custom<JsonObject>(isObject, "expected an object");
/** What passes through unread. */
export const meta: Shape<JsonObject | undefined> = object.optional();

/** A list of these. */
export function list<T>(item: Shape<T>): Shape<T[]> {
  return z.array(item);
}

/** Identity of a Run. */
export const run: Shape<Run> = shape<Run>({ turnId: text, runId: text });
/** Who started one. */
export const origin: Shape<Origin> = variants<Origin>("kind", {
  connection: { connectionId: text },
  engine: { parent: run },
});
/** How one ended. */
export const runEnd: Shape<RunEnd> = variants<RunEnd>("how", {
  completed: { stopReason: z.enum(["end_turn", "max_tokens", "max_turn_requests", "refusal"]), meta },
  stopped: { by: text },
  failed: { failure: shape({ class: text, message: text, data: meta }) },
  interrupted: {},
});
/** How far one is. */
export const phase: Shape<LiveRun["phase"]> = z.enum(["admitted", "running", "waiting"]);
/** One that has not ended. */
export const liveRun: Shape<LiveRun> = shape<LiveRun>({
  run,
  phase,
  foreground: flag,
  origin,
  presenter: text.optional(),
  cut: whole,
});

/** A reference to committed bytes. */
export const artifact: Shape<ArtifactReference> = shape<ArtifactReference>({
  artifactId: text,
  name: text,
  mimeType: text,
  size: whole,
  sha256: text,
});

const lines = shape({ from: whole, to: whole }).optional();
const part = variants("kind", {
  text: { text, meta },
  link: { uri: text, name: text, lines, artifact: artifact.optional(), meta },
  resource: { uri: text, lines, artifact, meta },
  image: { mimeType: text, artifact, meta },
  audio: { mimeType: text, artifact, meta },
});
/** What a Turn is to work on. */
export const turnInput: Shape<TurnInput> = shape<TurnInput>({ parts: list(part), meta });

/** A wanted change of a setting. */
export const configChange: Shape<ConfigChange> = shape<ConfigChange>({
  id: text,
  value: z.union([text, flag]),
});
const option = variants<ConfigOption>("type", {
  select: { id: text, name: text, value: text, choices: list(shape({ value: text, name: text })) },
  boolean: { id: text, name: text, value: flag },
});
/** All settings. */
export const config: Shape<Config> = shape<Config>({ revision: whole, options: list(option) });
/** A slash command. */
export const command: Shape<Command> = shape<Command>({
  name: text,
  description: text,
  hint: text.optional(),
});
/** Use of the context window. */
export const usage: Shape<Usage> = shape<Usage>({
  used: count,
  size: count,
  cost: shape({ amount: number, currency: text }).optional(),
});
/** A step of a plan. */
export const planEntry: Shape<PlanEntry> = shape<PlanEntry>({
  content: text,
  priority: z.enum(["high", "medium", "low"]),
  status: z.enum(["pending", "in_progress", "completed"]),
});

/** What the Client offers to an Engine. */
export const services: Shape<ClientServices> = shape<ClientServices>({
  readTextFile: flag,
  writeTextFile: flag,
  terminal: flag,
  forms: flag,
});
/** An MCP server, unread. */
export const mcpServer: Shape<McpServer> = object;

/** A Session as lists show it. */
export const sessionInfo: Shape<SessionInfo> = shape<SessionInfo>({
  sessionId: text,
  cwd: text,
  roots: list(text),
  engineId: text,
  title: text.optional(),
  createdAt: number,
  updatedAt: number,
  config,
  commands: list(command),
  usage: usage.optional(),
});

/** What an Engine can do. */
export const engineProfile: Shape<EngineProfile> = shape<EngineProfile>({
  engineId: text,
  title: text,
  version: text.optional(),
  options: list(option),
  commands: list(command),
  prompt: shape({ image: flag, audio: flag, embeddedContext: flag }),
  mcp: shape({ http: flag, sse: flag }),
  linkedDirectories: flag,
  authMethods: list(object),
});

const grantScope = shape({ what: text, value: text, until: z.enum(["turn", "session", "forever"]) });
/** A lasting permission. */
export const grant: Shape<Grant> = shape<Grant>({
  grantId: text,
  scope: grantScope,
  effect: z.enum(["allow", "deny"]).optional(),
  createdAt: number,
});
const questionOption = shape({
  optionId: text,
  name: text,
  effect: z.enum(["allow", "deny"]).optional(),
  scope: grantScope.optional(),
});
const choices = list(shape({ value: text }));
const field = variants("type", {
  string: { name: text, required: flag },
  number: { name: text, required: flag },
  integer: { name: text, required: flag },
  boolean: { name: text, required: flag },
  enum: { name: text, required: flag, choices },
  multi_enum: { name: text, required: flag, choices },
});
/** A question that waits. */
export const interaction: Shape<Interaction> = shape<Interaction>({
  interactionId: text,
  run,
  kind: text,
  toolCallId: text.optional(),
  message: text,
  options: list(questionOption),
  fields: list(field).optional(),
});
/** What a person answered. */
export const answer: Shape<Answer> = variants<Answer>("kind", {
  option: { optionId: text },
  values: { values: z.record(z.string(), z.union([text, number, flag, list(text)])) },
  decline: {},
  cancel: {},
});

/** What an editor and an Engine say to each other. */
export const extensionMessage: Shape<ExtensionMessage> = shape<ExtensionMessage>({
  sessionId: text.optional(),
  method: text,
  params: object,
});
/** How a request of theirs was answered. */
export const extensionAnswer: Shape<ExtensionAnswer> = variants<ExtensionAnswer>("kind", {
  result: { result: json },
  error: { code: number, message: text },
});
/** What an Engine says. */
export const extensionEvent: Shape<ExtensionEvent> = variants<ExtensionEvent>("type", {
  request: { callId: text, message: extensionMessage },
  request_cancelled: { callId: text },
  notification: { message: extensionMessage },
});
