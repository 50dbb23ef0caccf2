import { createHmac } from "node:crypto";
import type { Json } from "../../model/json.ts";
import type { McpServer } from "../contract.ts";

/**
 * What the disk learns about a Session's MCP servers: a digest that tells one list from another within a Session. It is keyed by
 * store and Session, so that equal lists of two Sessions look different, and covers only what cannot be secret: of arguments,
 * addresses, environment and headers nothing but the names, so that nobody can test guesses against it.
 */
export function mcpDigest(
  key: { storeId: string; sessionId: string },
  servers: readonly McpServer[],
): string {
  const visible = servers.map(({ name, type, command, env, headers }) => [
    name ?? null,
    type ?? null,
    command ?? null,
    namesOf(env),
    namesOf(headers),
  ]);
  return createHmac("sha256", `${key.storeId} ${key.sessionId}`).update(JSON.stringify(visible)).digest(
    "hex",
  );
}

function namesOf(list: Json | undefined): Json {
  if (!Array.isArray(list)) return null;
  return list.map((each: Json) =>
    each !== null && typeof each === "object" && "name" in each ? each.name : null
  );
}
