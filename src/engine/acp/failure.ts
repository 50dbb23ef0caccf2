import { cut, isRecord, recordOf, textOf } from "./shape.ts";
import type { Failure, FailureClass } from "../../model/run.ts";
import type { Json, JsonObject } from "../../model/json.ts";

/** UTF-16 units of an agent's own sentence. */
const SENTENCE = 1000;
/** Encoded UTF-16 units of details that an agent adds to an error. */
const DETAILS = 4096;
/** ACP's code for "log in first". */
const AUTH_REQUIRED = -32000;

/** Why a Turn cannot go on; the message is the sentence that the editor shows. */
export class AgentFailure extends Error {
  override readonly name = "AgentFailure";
  /** What kind of failure it is. */
  readonly class: FailureClass;
  /** Details for programs. */
  readonly data?: JsonObject;

  /** Makes one. */
  constructor(kind: FailureClass, message: string, data?: JsonObject) {
    super(message);
    this.class = kind;
    this.data = data;
  }
}

/** What ended a Turn, as the Host takes it. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AgentFailure) {
    return { class: error.class, message: error.message, ...(error.data && { data: error.data }) };
  }
  return { class: "engine", message: error instanceof Error ? error.message : String(error) };
}

/** Makes a sentence of an error that the agent answered with. `logins` are its ways to log in, in ACP's own shape. */
export function refusal(error: unknown, what: string, logins: readonly JsonObject[]): AgentFailure {
  if (error instanceof AgentFailure) return error;
  const { code, message, data } = recordOf(plain(error));
  const said = cut(
    [textOf(message) ?? "it did not say why", detailOf(data)].filter(Boolean).join(": "),
    SENTENCE,
  );
  const extra: JsonObject = {
    ...(typeof code === "number" && { code }),
    ...(data !== undefined && JSON.stringify(data).length <= DETAILS && { data }),
  };
  if (code === AUTH_REQUIRED) {
    const names = logins.flatMap(({ name }) => textOf(name) ?? []);
    const ways = names.length === 0
      ? ". Log in with the agent's own program, then try again"
      : `: it offers ${names.join(", ")}. Log in, then try again`;
    return new AgentFailure("authentication", `The agent wants you to log in${ways}. It said: ${said}`, {
      ...extra,
      authMethods: logins,
    });
  }
  return new AgentFailure("engine", `The agent ${what}: ${said}`, extra);
}

function plain(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, data } = error as Error & { code?: Json; data?: Json };
  return { message: error.message, ...(code !== undefined && { code }), ...(data !== undefined && { data }) };
}

/** Most agents put the real reason beside a message that says nothing. */
function detailOf(data: Json | undefined): string | undefined {
  if (typeof data === "string") return data;
  if (!isRecord(data)) return undefined;
  return textOf(data.details) ?? textOf(data.message) ?? textOf(data.error);
}
