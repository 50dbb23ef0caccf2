import type {
  ContentBlock,
  ListSessionsRequest,
  PromptRequest,
  SetSessionConfigOptionRequest,
  SetSessionModeRequest,
} from "@agentclientprotocol/sdk";
import * as z from "zod";
import { invalidParams } from "./errors.ts";
import type { McpServer } from "../host/contract.ts";
import type { JsonObject, Meta } from "../model/json.ts";

/** What a request about an own Session names. */
export interface SessionParams {
  readonly sessionId: string;
}

/** What may come with any parameters. */
export interface WithMeta {
  readonly _meta?: Meta;
}

/** What `session/new` asks for, defaults filled in. */
export interface PlaceParams extends WithMeta {
  readonly cwd: string;
  readonly additionalDirectories: string[];
  readonly mcpServers: McpServer[];
}

/** What `session/list` asks for, with nothing instead of null. */
export type ListParams = { [K in "cwd" | "cursor"]?: NonNullable<ListSessionsRequest[K]> };

/** A prompt as far as it is read. */
export type PromptParams = Pick<PromptRequest, "sessionId" | "prompt"> & { readonly _meta?: Meta };

/** One wanted setting. */
export type ConfigParams = SetSessionConfigOptionRequest;

/** UTF-16 units of a path that an error repeats. */
const PATH_LENGTH = 200;

// Every message below completes the sentence `"field" must be …`; none repeats a value but a path.
const ABSOLUTE = Deno.build.os === "windows" ? /^([a-zA-Z]:[\\/]|[\\/]{2})/ : /^\//;
const text = z.string("a string");
const path = z.string("an absolute path").regex(ABSOLUTE, {
  error: (issue) => `an absolute path, not ${JSON.stringify(String(issue.input).slice(0, PATH_LENGTH))}`,
});

/** JSON objects pass through unread; anything else counts as absent. */
const meta = z.custom<JsonObject>(isObject).optional().catch(undefined);

/** A detail that a Client may leave out, and that counts as left out where it is malformed. */
const detail = z.string().optional().catch(undefined);

/** A list that may be left out or null. */
function list<T>(item: z.ZodType<T>, wanted: string): z.ZodType<T[]> {
  return z.array(item, wanted).nullish().transform((items) => items ?? []);
}

const named = z.looseObject({ name: text, value: text }, "an object with a name and a value");
const stdioServer = z.looseObject({
  type: z.literal("stdio").optional(),
  name: text,
  command: text.min(1, "the path of a program"),
  args: list(text, "a list of strings"),
  env: list(named, "a list of names with values"),
});
const remoteServer = (type: "http" | "sse") =>
  z.looseObject({
    type: z.literal(type),
    name: text,
    url: text,
    headers: list(named, "a list of names with values"),
  });
const mcpServer = z.discriminatedUnion(
  "type",
  [stdioServer, remoteServer("http"), remoteServer("sse")],
  { error: (issue) => isObject(issue.input) ? '"stdio", "http", "sse" or left out' : "an MCP server" },
).transform((server) => server as McpServer);

const place = {
  cwd: path,
  additionalDirectories: list(path, "a list of absolute paths"),
  mcpServers: list(mcpServer, "a list of MCP servers"),
  _meta: meta,
};

const resource = z.union([
  z.object({ uri: text, text, mimeType: detail }),
  z.object({ uri: text, blob: text, mimeType: detail }),
], 'an object with a "uri" and either "text" or "blob"');

const block: z.ZodType<ContentBlock> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text, _meta: meta }),
  z.object({ type: z.literal("image"), data: text, mimeType: text, uri: detail, _meta: meta }),
  z.object({ type: z.literal("audio"), data: text, mimeType: text, _meta: meta }),
  z.object({
    type: z.literal("resource_link"),
    uri: text,
    name: text,
    mimeType: detail,
    title: detail,
    description: detail,
    _meta: meta,
  }),
  z.object({ type: z.literal("resource"), resource, _meta: meta }),
], {
  error: (issue) =>
    isObject(issue.input) ? '"text", "image", "audio", "resource_link" or "resource"' : "a content block",
});

const wanted = "an object";

/** `session/new` */
export const newSession: z.ZodType<PlaceParams> = z.object(place, wanted);
/** `session/load` and `session/resume` */
export const openSession: z.ZodType<PlaceParams & SessionParams> = z.object(
  { sessionId: text, ...place },
  wanted,
);
/** `session/list`; even the parameters as a whole may be left out. */
export const listSessions: z.ZodType<ListParams> = z.object({
  cwd: path.nullish().transform((value) => value ?? undefined),
  cursor: text.nullish().transform((value) => value ?? undefined),
}, wanted).nullish().transform((value) => value ?? {});
/** `session/close`, `session/delete`, `session/cancel` */
export const oneSession: z.ZodType<SessionParams> = z.object({ sessionId: text }, wanted);
/** `session/prompt` */
export const prompt: z.ZodType<PromptParams> = z.object({
  sessionId: text,
  prompt: z.array(block, "a list of content blocks").min(1, "a list with at least one content block"),
  _meta: meta,
}, wanted);
/** `session/set_mode` */
export const setMode: z.ZodType<Pick<SetSessionModeRequest, "sessionId" | "modeId"> & WithMeta> = z.object(
  { sessionId: text, modeId: text, _meta: meta },
  wanted,
);
/** `session/set_config_option`: a boolean says so by its type. */
export const setConfigOption: z.ZodType<ConfigParams> = z.object({
  sessionId: text,
  configId: text,
  type: z.unknown().optional(),
  value: z.unknown().optional(),
  _meta: meta,
}, wanted).transform(({ sessionId, configId, type, value, _meta }, context): ConfigParams => {
  const which = { sessionId, configId, ...(_meta !== undefined && { _meta }) };
  if (type === "boolean" && typeof value === "boolean") return { ...which, type, value };
  if (type !== "boolean" && typeof value === "string") return { ...which, value };
  context.addIssue({
    code: "custom",
    path: ["value"],
    message: 'a string, or true or false with "type": "boolean"',
  });
  return z.NEVER;
});

/** Reads parameters. Throws -32602 with a sentence that names the field and what is wanted there. */
export function readParams<T>(schema: z.ZodType<T>, params: unknown): T {
  const read = schema.safeParse(params);
  if (read.success) return read.data;
  const issue = read.error.issues[0]!;
  throw invalidParams(fieldOf(issue.path), issue.message, valueAt(params, issue.path) === undefined);
}

function fieldOf(steps: readonly PropertyKey[]): string {
  let field = "";
  for (const step of steps) {
    field += typeof step === "number" ? `[${step}]` : field === "" ? String(step) : `.${String(step)}`;
  }
  return field;
}

function valueAt(value: unknown, steps: readonly PropertyKey[]): unknown {
  for (const step of steps) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
