import { absolute, type Machine, stateVariables } from "./state.ts";
import { configVariables } from "./roster.ts";
import type { HostChoice, ServeOptions } from "./flags.ts";
import { type Launch, launchSelf } from "./launch.ts";
import { type Permissions, WORKSPACE } from "./permissions.ts";

/**
 * How editors should start this program so that it does what it does with these options: its Sessions, the project's files, and running
 * what the user approves. A Host that outlives them is reached by a socket, and its agents get variables of the editor. `host` is the
 * Host that the options and the configuration come to.
 */
export function editorLaunch(options: ServeOptions, host: HostChoice, machine: Machine): Launch {
  const outlives = host.kind !== "none";
  const permissions: Permissions = {
    env: outlives || [...stateVariables(machine.os), ...configVariables(machine)],
    ...(outlives && { net: true }),
    read: Deno.build.standalone ? [WORKSPACE] : true,
    write: true,
    run: true,
  };
  return launchSelf(permissions, wordsOf(options, machine));
}

/** Whether a program lies where npx keeps what it runs: another version, or a cleaned cache, takes it away. */
export function isPassing(program: string): boolean {
  return /[\\/]_npx[\\/]/.test(program);
}

/** The same options again, for a program that starts in another folder. */
function wordsOf(options: ServeOptions, machine: Machine): readonly string[] {
  const { agent, command, config, store, host, idle, transport, logLevel, logFile } = options;
  const flag = (name: string, value: string | undefined) => value === undefined ? [] : [`--${name}`, value];
  const path = (name: string, value: string | undefined) =>
    flag(name, value === undefined ? undefined : absolute(value, machine));
  return [
    ...(store.kind === "memory" ? ["--memory"] : []),
    ...path("state", store.kind === "folder" ? store.folder : undefined),
    ...path("config", config),
    ...(host?.kind === "path" ? path("host", host.path) : flag("host", host?.kind)),
    ...flag("idle", idle?.toString()),
    ...flag("transport", transport),
    ...flag("log-level", logLevel),
    ...path("log-file", logFile),
    ...flag("agent", agent),
    ...(command === undefined ? [] : ["--", ...command]),
  ];
}
