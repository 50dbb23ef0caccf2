import { PERMISSIONS, type Permissions, WORKSPACE } from "./permissions.ts";
import type { ServeOptions } from "./flags.ts";

/** What the worker is told. */
export interface SandboxTask {
  /** `serve`: an editor; `host`: be a Host that editors reach. */
  readonly what: "serve" | "host";
  readonly options: ServeOptions;
  /** What the worker has, for a Host that it starts. */
  readonly permissions: Permissions;
  /** `workspace`: the roots of each Session limit reading; `listed`: the permissions of the worker do. */
  readonly reading: "workspace" | "listed";
}

/**
 * Serves in a worker that has these permissions and no more, and resolves with its exit code. A compiled program always has all
 * permissions itself; this is how it gives them away. The worker reads stdin, writes stdout and hears signals itself.
 */
export async function serveNarrowed(
  options: ServeOptions,
  permissions: Permissions,
  what: SandboxTask["what"] = "serve",
): Promise<number> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), workerOptions(permissions));
  const { port1: port, port2 } = new MessageChannel();
  const reading = permissions.read !== true && permissions.read?.includes(WORKSPACE) ? "workspace" : "listed";
  const task: SandboxTask = { what, options, permissions, reading };
  try {
    return await new Promise<number>((resolve, reject) => {
      port.onmessage = ({ data }) => resolve(Number(data));
      worker.onerror = (event) => {
        event.preventDefault();
        reject(event.error ?? new Error(event.message));
      };
      worker.postMessage(task, [port2]);
    });
  } finally {
    port.close();
    worker.terminate();
  }
}

/** Deno's own shape of a worker's permissions. What is not listed is not granted. */
function workerOptions(permissions: Permissions): WorkerOptions {
  const granted = Object.fromEntries(PERMISSIONS.map((name) => {
    const grant = permissions[name] ?? false;
    // Each Session has its own folders, which are not known yet: the read scope holds this limit.
    return [name, name === "read" && Array.isArray(grant) && grant.includes(WORKSPACE) ? true : grant];
  }));
  return {
    type: "module",
    deno: { permissions: { ...granted, ffi: false, import: false } },
  } as WorkerOptions;
}
