/**
 * An Engine that has any agent of the Agent Client Protocol do the work, as a child process.
 *
 * @module
 */
import type { AgentCommand } from "./process.ts";
import type { AgentEngine } from "./engine.ts";
import type { Engine, EngineContext, EngineSession } from "../contract.ts";
import type { Json } from "../../model/json.ts";
import type { Log } from "../../model/log.ts";
import { Profile } from "./profile.ts";
import type { ExtensionOutlet } from "../contract.ts";
import type { TerminalLogin } from "./logins.ts";

export type { TerminalLogin } from "./logins.ts";
export type { AgentCommand } from "./process.ts";

/** How an agent is put behind the Host. */
export interface AcpEngineOptions {
  /** As in `--agent`. */
  readonly engineId: string;
  /** Its name for people; the `engineId` where absent. */
  readonly title?: string;
  /** How it is started. */
  readonly command: AgentCommand;
  /** Where its stderr and its faults go. */
  readonly log: Log;
  /** Values of its options in new Sessions, by their ids; what it does not take is left out. */
  readonly preferred?: Readonly<Record<string, string | boolean>>;
  /** How a person logs in to it in a terminal; ways to log in that need one are not offered where absent. */
  readonly terminal?: TerminalLogin;
  /** Gangway's own version, as the agent is told. */
  readonly version: string;
  /** What `remember` was given last, in an earlier process. */
  readonly remembered?: Json;
  /** Keeps what the agent said about itself, for the next start. */
  readonly remember?: (value: Json) => void;
}

/**
 * Makes the Engine. The agent is started by the first Turn, one for all Sessions; what drives it is loaded then.
 *
 * @example
 * ```ts ignore
 * const gemini = acpEngine({ engineId: "gemini", command: { program: "gemini", args: ["--acp"] }, log, version: "1.0.0" });
 * ```
 */
export function acpEngine(options: AcpEngineOptions): Engine {
  const { engineId, title = engineId, remembered, remember = () => {}, preferred = {}, terminal } = options;
  const profile = new Profile({ engineId, title, preferred, remembered, remember, terminal });
  let engine: Promise<AgentEngine> | undefined;
  let outlet: ExtensionOutlet | undefined;
  const loaded = () =>
    engine ??= import("./engine.ts").then(({ AgentEngine }) => new AgentEngine(options, profile, outlet));
  return {
    profile: profile.current,
    archive: {
      // An agent that is known to keep nothing is not started to say so.
      list: async (request, signal) =>
        profile.archives ? await (await loaded()).archive.list(request, signal) : [],
      take: async (...of) => await (await loaded()).archive.take(...of),
      remove: async (keptAs, signal) => await (await loaded()).archive.remove(keptAs, signal),
    },
    extensions: {
      connect: (given) => outlet = given,
      call: async (message, client, signal) =>
        await (await loaded()).extensions.call(message, client, signal),
      notify: async (message, client) => await (await loaded()).extensions.notify(message, client),
    },
    async open(context: EngineContext): Promise<EngineSession> {
      return (await loaded()).open(context);
    },
    async close(): Promise<void> {
      await (await engine)?.close();
    },
  };
}
