import { type Address, call, type Reached } from "./caller.ts";
import { commonEnvironment, variableOf } from "./environment.ts";
import { DeferredHost } from "./deferred_host.ts";
import { describeAgent, type Introduction } from "./description.ts";
import type { RuntimeHost } from "../../host/contract.ts";
import type { HostChoice, ServeOptions } from "../flags.ts";
import { HostError } from "../../host/errors.ts";
import { HostReach } from "./reach.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Log } from "../../model/log.ts";
import type { Machine } from "../state.ts";
import type { Permissions } from "../permissions.ts";
import { randomIds, systemClock } from "../../system.ts";
import type { Roster } from "../roster.ts";
import { startHost } from "./start.ts";
import { VERSION } from "../version.ts";

/** What {@linkcode remoteHost} needs. */
export interface RemoteHostParts {
  readonly choice: HostChoice;
  /** The state folder. */
  readonly folder: string;
  readonly options: ServeOptions;
  readonly roster: Roster;
  readonly machine: Machine;
  /** What a Host that is started is granted; what this process has where absent. */
  readonly permissions?: Permissions;
  readonly log: Log;
  /** Tells the person something. */
  readonly tell: (sentence: string) => void;
}

/**
 * A Host that outlives the editor. It is reached, and started where it is to be, by the first request that needs it, and again when the
 * connection is lost. Its agents are those that the editor's Gangway knows.
 */
export function remoteHost(parts: RemoteHostParts): RuntimeHost {
  const { roster, machine, log } = parts;
  const dial = dialer(parts);
  const connectionId = randomIds.next();
  return new DeferredHost({
    connectionId,
    describe: (engineId = roster.defaultEngine) =>
      roster.engines.find(({ profile }) => profile.engineId === engineId)?.profile,
    open: async (closing) => {
      const { RemoteHost } = await import("../../host/wire/client.ts");
      return await RemoteHost.connect({
        dial: async (signal) => (await dial(AbortSignal.any([signal, closing]))).stream,
        clock: systemClock,
        ids: randomIds,
        log,
        connectionId,
        client: {
          name: "gangway",
          version: VERSION,
          details: introductionFor(roster, machine),
        },
      });
    },
  });
}

/** What the editor's Gangway says of its agents, and of what they need of the editor's environment. */
function introductionFor(roster: Roster, machine: Machine): JsonObject {
  const here = { cwd: machine.cwd, variable: (name: string) => variableOf(machine, name) };
  const introduction: Introduction = {
    defaultEngine: roster.defaultEngine,
    workbench: roster.workbench,
    agents: Object.entries(roster.agents).map(([engineId, agent]) => describeAgent(engineId, agent, here)),
    environment: commonEnvironment(machine),
  };
  return { ...introduction, agents: introduction.agents.map((agent) => ({ ...agent })) };
}

/** Who is dialled: the Host that was named, or the one of the state folder, started if need be. */
function dialer(parts: RemoteHostParts): (signal: AbortSignal) => Promise<Reached> {
  const { choice, folder, options, machine, permissions, tell } = parts;
  if (choice.kind !== "path") {
    const start = () => startHost({ folder, options, machine, permissions });
    const reach = new HostReach({ folder, start, version: VERSION, tell });
    return (signal) => reach.dial(signal);
  }
  return async (signal) => {
    const reached = await call(addressOf(choice.path), { want: "host" }, signal);
    if (reached !== undefined) return reached;
    throw new HostError(
      "unavailable",
      `No Host answers at "${choice.path}": start it with gangway host, or let --host be auto`,
      {
        dispatch: "not_sent",
      },
    );
  };
}

/** A path names a socket, or the state folder of a Host. */
function addressOf(path: string): Address {
  let folder = false;
  try {
    folder = Deno.statSync(path).isDirectory;
  } catch {
    // Whoever calls there says what is wrong with it.
  }
  return folder ? { kind: "state", folder: path } : { kind: "socket", path };
}
