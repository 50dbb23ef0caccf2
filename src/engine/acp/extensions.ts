import type { ClientServices } from "../../host/contract.ts";
import type { Conversation } from "./conversation.ts";
import type { ExtensionInlet } from "../contract.ts";
import { type ExtensionAnswer, unknownExtension } from "../../model/extension.ts";
import type { Hello } from "./hello.ts";
import type { Keeper } from "./keeper.ts";
import { untilAborted } from "../waiting.ts";

/** Methods of an editor, beyond those of Sessions and Turns, that are about an agent as a whole, and what an agent has to offer for them. */
const OF_EDITORS: ReadonlyMap<string, (hello: Hello) => boolean> = new Map([
  ["authenticate", () => true],
  ["logout", (hello: Hello) => hello.logout],
  ["auth/status", (hello: Hello) => hello.authStatus],
  ["providers/list", (hello: Hello) => hello.providers],
  ["providers/set", (hello: Hello) => hello.providers],
  ["providers/disable", (hello: Hello) => hello.providers],
]);

/** Notifications of an agent that an editor hears as they are, beside those that begin with `_`. */
const OF_AGENTS: ReadonlySet<string> = new Set(["auth/status_update"]);

/** Whether an agent may say this to an editor. */
export function reachesEditor(method: string): boolean {
  return method.startsWith("_") || OF_AGENTS.has(method);
}

/** Whether an editor may say this to an agent that said this of itself. */
function reachesAgent(method: string, hello: Hello): boolean {
  return method.startsWith("_") || OF_EDITORS.get(method)?.(hello) === true;
}

/** What goes to an agent and is about none of its Sessions. The agent is started for it. */
export function agentExtensions(keeper: Keeper): ExtensionInlet {
  return {
    async call({ method, params }, client, signal): Promise<ExtensionAnswer> {
      const { agent, hello } = await untilAborted(keeper.ready(client), signal);
      if (!reachesAgent(method, hello)) return unknownExtension(method);
      return await agent.ask(method, params, signal);
    },
    async notify({ method, params }, client): Promise<void> {
      const { agent, hello } = await keeper.ready(client);
      if (reachesAgent(method, hello)) await agent.notify(method, params);
    },
  };
}

/** What goes to an agent about one of its Sessions, which is opened for it. The agent knows it by a name of its own. */
export function sessionExtensions(
  opened: (client: ClientServices, signal: AbortSignal) => Promise<Pick<Conversation, "agent" | "sessionId">>,
): ExtensionInlet {
  return {
    async call({ method, params }, client, signal): Promise<ExtensionAnswer> {
      if (!method.startsWith("_")) return unknownExtension(method);
      const { agent, sessionId } = await opened(client, signal);
      return await agent.ask(method, { ...params, sessionId }, signal);
    },
    async notify({ method, params }, client): Promise<void> {
      if (!method.startsWith("_")) return;
      const { agent, sessionId } = await opened(client, new AbortController().signal);
      await agent.notify(method, { ...params, sessionId });
    },
  };
}
