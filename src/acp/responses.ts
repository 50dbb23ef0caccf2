import type {
  ListSessionsResponse,
  NewSessionResponse,
  SessionInfo as ListedSession,
} from "@agentclientprotocol/sdk";
import type { SessionInfo, SessionPage } from "../host/contract.ts";

/** The answer to `session/new`. */
export function created(info: SessionInfo): NewSessionResponse {
  return { sessionId: info.sessionId };
}

/** The answer to `session/list`. */
export function listed(page: SessionPage): ListSessionsResponse {
  return {
    sessions: page.sessions.map(listedSession),
    ...(page.cursor !== undefined && { nextCursor: page.cursor }),
  };
}

function listedSession({ sessionId, cwd, roots, title, updatedAt }: SessionInfo): ListedSession {
  return {
    sessionId,
    cwd,
    updatedAt: new Date(updatedAt).toISOString(),
    ...(roots.length > 0 && { additionalDirectories: [...roots] }),
    ...(title !== undefined && { title }),
  };
}
