import { type Address, call, statusOf } from "./caller.ts";
import type { Command } from "../flags.ts";
import { HostError } from "../../host/errors.ts";
import type { HostStatus } from "./status.ts";
import { folderRefusal, planStore, thisMachine } from "../state.ts";
import type { Screen } from "../screen.ts";

/** Milliseconds that a Host may take to end. */
const STOP_MS = 10_000;

/** `gangway host status` and `gangway host stop`. Resolves with 0, or 1 where no Host runs. */
export async function hostCommand(command: Command & { kind: "host" }, screen: Screen): Promise<number> {
  const { action, options, print } = command;
  try {
    const address = addressFor(options.store);
    return action === "stop" ? await stop(address, screen) : await status(address, print.json, screen);
  } catch (error) {
    screen.line(error instanceof HostError ? error.message : `Failed: ${error}`);
    return 1;
  }
}

/** Where the Host of the chosen state folder is called. Throws a HostError where there is no such folder. */
export function addressFor(store: (Command & { kind: "host" })["options"]["store"]): Address {
  const plan = planStore(store, thisMachine());
  if (plan.kind === "folder") return { kind: "state", folder: plan.folder };
  throw new HostError("unavailable", folderRefusal(plan));
}

async function status(address: Address, json: boolean, screen: Screen): Promise<number> {
  const found = await statusOf(address, new AbortController().signal);
  if (json) {
    screen.line(JSON.stringify(found === undefined ? { running: false } : { running: true, ...found }));
  } else {for (const line of found === undefined ? ["No Host is running"] : describeHost(found)) {
      screen.line(line);
    }}
  return found === undefined ? 1 : 0;
}

/** A Host in some lines for people. */
export function describeHost(found: HostStatus): readonly string[] {
  const { pid, version, uptime, folder, endpoint, connections, sessions, idle } = found;
  const running = sessions.reduce((sum, session) => sum + session.running, 0);
  const waiting = sessions.reduce((sum, session) => sum + session.waiting, 0);
  return [
    `Process ${pid}, version ${version}, up ${durationOf(uptime)}`,
    `State folder ${folder}`,
    endpoint.transport === "socket" ? `Socket ${endpoint.path}` : `Port ${endpoint.port} of this machine`,
    `Editors ${connections}, open Sessions ${sessions.length}, Turns at work ${running}, waiting for an answer ${waiting}`,
    idle === undefined
      ? "It stays until it is stopped"
      : `It leaves after ${durationOf(idle)} without work and editors`,
  ];
}

async function stop(address: Address, screen: Screen): Promise<number> {
  const signal = AbortSignal.timeout(STOP_MS);
  const reached = await call(address, { want: "stop", when: "now" }, signal);
  if (reached === undefined) {
    screen.line("No Host is running");
    return 1;
  }
  // It hangs up when everything is let go of.
  const over = () => reached.stream.close();
  signal.addEventListener("abort", over, { once: true });
  await reached.stream.readable.pipeTo(new WritableStream()).catch(() => {});
  reached.stream.close();
  if (signal.aborted) {
    screen.line(`The Host (process ${reached.status.pid}) is still ending`);
    return 1;
  }
  screen.line(`The Host (process ${reached.status.pid}) has ended`);
  return 0;
}

/** Seconds as people say them. */
export function durationOf(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds % 86_400 / 3600)} h`;
}
