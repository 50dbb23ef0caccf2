/**
 * The inside of the sandbox: serves in a worker with narrowed permissions. Started by `sandbox.ts` only.
 *
 * @module
 */
import type { SandboxTask } from "./sandbox.ts";
import { serve } from "./serve.ts";

addEventListener("message", async (event) => {
  if (!(event instanceof MessageEvent)) return;
  event.ports[0]?.postMessage(await work(event.data));
}, { once: true });

async function work({ what, options, permissions, reading }: SandboxTask): Promise<number> {
  if (what === "serve") {
    return await serve(options, {
      permissions,
      ...(reading === "workspace" && { grants: { readable: () => true } }),
    });
  }
  const [{ runHost }, { stdoutScreen }] = await Promise.all([
    import("./daemon/run.ts"),
    import("./screen.ts"),
  ]);
  return await runHost(options, stdoutScreen());
}
