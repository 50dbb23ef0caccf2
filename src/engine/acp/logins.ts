import { isRecord, recordsOf, textOf } from "./shape.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";

/** What a program does for a person who logs in to its agent in a terminal. */
export interface TerminalLogin {
  /**
   * Words that, behind those that the program was started with, make it run the agent itself in that terminal, with what follows as
   * further arguments. `variables` are the names of those that the agent wants set: they count more than its own.
   */
  words(variables: readonly string[]): readonly string[];
}

/** An agent's ways to log in, as the protocol knows them and in bounds; what it does not know is left out. */
export function loginsOf(authMethods: Json | undefined): readonly JsonObject[] {
  const logins: JsonObject[] = [];
  let length = 0;
  for (const method of recordsOf(authMethods)) {
    const login = loginOf(method);
    if (login === undefined) continue;
    length += JSON.stringify(login).length;
    if (length > LIMITS.metaBytes) break;
    logins.push(login);
  }
  return logins;
}

/** The ways as Gangway's own: those in a terminal begin with words that make Gangway run the agent, or are left out. */
export function ownLogins(
  logins: readonly JsonObject[],
  terminal: TerminalLogin | undefined,
): readonly JsonObject[] {
  return logins.flatMap((login) => {
    if (login.type !== "terminal") return [login];
    if (terminal === undefined) return [];
    const args = Array.isArray(login.args) ? login.args : [];
    return [{
      ...login,
      args: [...terminal.words(Object.keys(isRecord(login.env) ? login.env : {})), ...args],
    }];
  });
}

function loginOf({ type, id, name, description, args, env, _meta }: JsonObject): JsonObject | undefined {
  const known = type === undefined || type === null || type === "agent" || type === "terminal";
  if (!known || typeof id !== "string" || typeof name !== "string") return undefined;
  return {
    ...(type === "terminal" && { type }),
    id,
    name,
    ...(textOf(description) !== undefined && { description: textOf(description)! }),
    ...(type === "terminal" && Array.isArray(args) &&
      { args: args.filter((arg) => typeof arg === "string") }),
    ...(type === "terminal" && isRecord(env) && { env: textsOf(env) }),
    ...(isRecord(_meta) && { _meta }),
  };
}

function textsOf(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => typeof value === "string"));
}
