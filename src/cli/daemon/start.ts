import { commonEnvironment } from "./environment.ts";
import { HostError } from "../../host/errors.ts";
import { launchSelf } from "../launch.ts";
import type { Machine } from "../state.ts";
import type { Grant, PermissionName, Permissions } from "../permissions.ts";
import type { ServeOptions } from "../flags.ts";

/** Seconds without work after which a Host leaves that was started for an editor. */
export const IDLE_SECONDS = 900;

/** What {@linkcode startHost} needs. */
export interface StartOptions {
  /** The state folder. */
  readonly folder: string;
  readonly options: ServeOptions;
  readonly machine: Machine;
  /** What the Host is granted; what this process has where absent. */
  readonly permissions?: Permissions;
}

/** How the process of a Host ended. */
export interface StartEnd {
  /** 0 where it had served. */
  readonly code: number;
  /** What it said, if anything. */
  readonly said: string;
}

/** A Host that is being started. */
export interface Starting {
  /** Resolves when its process ended. Never rejects. */
  readonly ended: Promise<StartEnd>;
  /** It serves, or nobody waits for it any more: lets go of its process, which goes on. */
  release(): void;
}

/**
 * Starts a Host that outlives this process and everything that is done to its process group: in a session of its own, without a
 * terminal, with no more permissions than this process has and no variables but the common ones. Throws where it cannot be started.
 */
export function startHost({ folder, options, machine, permissions }: StartOptions): Starting {
  const { idle = IDLE_SECONDS, transport, logLevel } = options;
  const launch = launchSelf(permissions ?? grantedHere(folder, machine), [
    "host",
    ...["--state", folder, "--idle", String(idle)],
    ...(transport === undefined ? [] : ["--transport", transport]),
    ...(logLevel === undefined ? [] : ["--log-level", logLevel]),
  ]);
  const env = commonEnvironment(machine);
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(launch.program, {
      args: [...launch.args],
      env,
      // Where it may not be read where programs are, everything has to be passed on.
      clearEnv: "PATH" in env || "Path" in env,
      ...(machine.os === "windows" ? {} : { cwd: "/" }),
      detached: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    const why = error instanceof Deno.errors.NotCapable
      ? "start Gangway with --allow-run, or start the Host yourself: gangway host"
      : error instanceof Error
      ? error.message
      : String(error);
    throw new HostError("unavailable", `A Host in a process of its own cannot be started: ${why}`, {
      dispatch: "not_sent",
      cause: error,
    });
  }
  child.unref();
  const errors = child.stderr.getReader();
  const said = wordsOf(errors);
  return {
    ended: child.status.then(async ({ code }) => ({
      code,
      said: (await said).trim().replace(/^gangway: /, ""),
    })),
    // It says nothing once it serves.
    release: () => void errors.cancel().catch(() => {}),
  };
}

async function wordsOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text = (text + decoder.decode(read.value, { stream: true })).slice(-4000);
  }
  return text;
}

/** This process's own permissions, as far as they can be told: lists cannot, so what is not granted whole is asked for piece by piece. */
function grantedHere(folder: string, machine: Machine): Permissions {
  const granted = (descriptor: Deno.PermissionDescriptor) =>
    Deno.permissions.querySync(descriptor).state === "granted";
  const permissions: Partial<Record<PermissionName, Grant>> = {};
  for (const name of ["read", "write"] as const) {
    const paths = [folder, machine.cwd].filter((path) => granted({ name, path }));
    permissions[name] = granted({ name }) || paths;
  }
  permissions.run = granted({ name: "run" }) || (granted({ name: "run", command: "sh" }) ? ["sh"] : []);
  permissions.env = granted({ name: "env" }) || Object.keys(commonEnvironment(machine));
  permissions.net = granted({ name: "net" }) || [`unix:${folder}/host/socket`, "127.0.0.1"];
  return Object.fromEntries(
    Object.entries(permissions).filter(([, grant]) => grant === true || grant.length > 0),
  );
}
