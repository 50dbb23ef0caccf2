import { RequestError } from "@agentclientprotocol/sdk";
import { ClientGone, ResourceError } from "../session/ports.ts";
import { HostError, type HostErrorCode } from "../host/errors.ts";
import { SessionError, type SessionErrorCode } from "../session/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Log } from "../model/log.ts";

const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

/** Codes with a number of their own on the wire; the others are -32603. */
const NUMBERS: { readonly [code in SessionErrorCode]?: number } = {
  unknown_session: NOT_FOUND,
  invalid_params: INVALID_PARAMS,
  authentication_required: AUTH_REQUIRED,
};

/** What a Host's failure is called on the wire where no Session gave it a better name. */
const HOST_CODES: { readonly [code in HostErrorCode]: SessionErrorCode } = {
  not_found: "unknown_session",
  busy: "session_busy",
  conflict: "internal",
  revision_conflict: "internal",
  already_resolved: "internal",
  invalid: "invalid_params",
  unauthorized: "authentication_required",
  capacity: "internal",
  unavailable: "host_unavailable",
  persistence_failed: "storage_failed",
  outcome_unknown: "outcome_unknown",
  internal: "internal",
};

/**
 * Any failure as the error that crosses the wire. Only sentences that were written for people cross it: what nobody foresaw
 * becomes one fixed sentence and leaves its name and its place in the log.
 */
export function wireError(
  error: unknown,
  method: string,
  sessionId: string | undefined,
  log: Log,
): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof SessionError) return sessionError(error.code, error.message, error.data, sessionId);
  if (error instanceof ResourceError) {
    return new RequestError(INVALID_PARAMS, error.message, { code: error.code });
  }
  if (error instanceof HostError) {
    log.warn("The Host refused or failed", { method, code: error.code, dispatch: error.dispatch });
    return sessionError(HOST_CODES[error.code], error.message, { dispatch: error.dispatch }, sessionId);
  }
  if (error instanceof ClientGone) return new RequestError(INTERNAL, error.message, { code: "client_gone" });
  log.error("A request failed in a way that nobody foresaw", { method, ...placeOf(error) });
  return new RequestError(INTERNAL, "Gangway failed in a way that it did not foresee; its log says where", {
    code: "internal",
  });
}

/** The error for one field: `must` completes the sentence `"field" must be …`. */
export function invalidParams(field: string, must: string, missing: boolean = false): RequestError {
  const [subject, is, they] = field === "" ? ["The parameters", "are", "they"] : [`"${field}"`, "is", "it"];
  const sentence = missing
    ? `${subject} ${is} missing: ${they} must be ${must}`
    : `${subject} must be ${must}`;
  return new RequestError(
    INVALID_PARAMS,
    `Invalid params: ${sentence}`,
    field === "" ? undefined : { field },
  );
}

function sessionError(
  code: SessionErrorCode,
  message: string,
  data: JsonObject,
  sessionId: string | undefined,
): RequestError {
  const named = code === "unknown_session" && sessionId !== undefined ? { sessionId } : {};
  return new RequestError(NUMBERS[code] ?? INTERNAL, message, { ...named, ...data, code });
}

/** Where an error came from, without its message: that may quote a file or a secret. */
function placeOf(error: unknown): JsonObject {
  if (!(error instanceof Error)) return { name: typeof error };
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at ")).map((line) =>
    line.trim()
  );
  return { name: error.name, at: frames?.slice(0, 10) ?? [] };
}
