import type { AgentBook } from "./agent_book.ts";
import type { EngineProfile, HostExtensions, HostSessions, RuntimeHost } from "../../host/contract.ts";
import type { ExtensionMessage } from "../../model/extension.ts";
import type { Introduction } from "./description.ts";
import { HostError } from "../../host/errors.ts";

/** What an {@linkcode editorConnection} works with. */
export interface EditorConnectionParts {
  readonly book: AgentBook;
  readonly introduction: Introduction;
  /** Waits until no connection that is lost, and may not come back, stands for the Session's Runs. Bounded. */
  readonly settled: (sessionId: string) => Promise<void>;
}

/**
 * A connection to the Host as the editor sees it who introduced its own agents: new Sessions have its default, and each Session that it
 * creates, loads or resumes has its agents' commands and variables.
 */
export function editorConnection(host: RuntimeHost, parts: EditorConnectionParts): RuntimeHost {
  const { book, introduction, settled } = parts;
  const { defaultEngine } = introduction;
  const sessions: HostSessions = {
    ...host.sessions,
    create: (request) => {
      // Right before it is looked up, so that no other editor's agent of the same name is taken.
      book.introduce(introduction);
      book.bind(request.sessionId, introduction);
      return host.sessions.create({ ...request, engineId: request.engineId ?? defaultEngine });
    },
    bind: async (request) => {
      book.introduce(introduction);
      book.bind(request.sessionId, introduction);
      await settled(request.sessionId);
      return await host.sessions.bind(request);
    },
    remove: async (sessionId) => {
      await host.sessions.remove(sessionId);
      book.forget(sessionId);
    },
  };
  return {
    connectionId: host.connectionId,
    sessions,
    turns: host.turns,
    interactions: host.interactions,
    calls: host.calls,
    artifacts: host.artifacts,
    grants: host.grants,
    ...(host.extensions !== undefined && { extensions: ownExtensions(host.extensions, parts) }),
    describe: (engineId = defaultEngine): EngineProfile => {
      const engine = book.engineOf(engineId);
      if (engine !== undefined) return engine.profile;
      throw new HostError("invalid", `There is no agent "${engineId}"`);
    },
    watch: (signal) => host.watch(signal),
    close: () => host.close(),
  };
}

/** What is about no Session is about the editor's own default agent. */
function ownExtensions(
  extensions: HostExtensions,
  { book, introduction }: EditorConnectionParts,
): HostExtensions {
  const aimed = (message: ExtensionMessage): ExtensionMessage => {
    if (message.sessionId !== undefined) return message;
    book.introduce(introduction);
    return { ...message, engineId: message.engineId ?? introduction.defaultEngine };
  };
  return {
    ...extensions,
    call: (message, signal) => extensions.call(aimed(message), signal),
    notify: (message) => extensions.notify(aimed(message)),
  };
}
