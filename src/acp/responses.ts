import type {
  ListSessionsResponse,
  NewSessionResponse,
  SessionConfigOption,
  SessionInfo as ListedSession,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import { configOptionsOf, modesOf } from "../projection/config.ts";
import type { SessionInfo, SessionPage } from "../host/contract.ts";
import type { ClientAbilities } from "../session/ports.ts";
import type { Config } from "../model/config.ts";

/** How a Session is set: the common part of the answers to new, load and resume. */
export interface Settings {
  readonly modes?: SessionModeState;
  readonly configOptions?: SessionConfigOption[];
}

/** The answer to `session/new`. */
export function created(info: SessionInfo, abilities: ClientAbilities): NewSessionResponse {
  return { sessionId: info.sessionId, ...settingsOf(info.config, abilities) };
}

/** Modes and options; what a Session does not have is left out. */
export function settingsOf(config: Config, abilities: ClientAbilities): Settings {
  const modes = modesOf(config);
  const options = optionsOf(config, abilities);
  return { ...(modes !== undefined && { modes }), ...(options.length > 0 && { configOptions: options }) };
}

/** All options, as the answer to `session/set_config_option` needs them. */
export function optionsOf(config: Config, abilities: ClientAbilities): SessionConfigOption[] {
  return configOptionsOf(config, { booleans: abilities.booleanOptions });
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
    ...(updatedAt > 0 && { updatedAt: new Date(updatedAt).toISOString() }),
    ...(roots.length > 0 && { additionalDirectories: [...roots] }),
    ...(title !== undefined && { title }),
  };
}
