/**
 * The inside of the sandbox: serves in a worker with narrowed permissions. Started by `sandbox.ts` only.
 *
 * @module
 */
import type { SandboxTask } from "./sandbox.ts";
import { serve } from "./serve.ts";

addEventListener("message", async (event) => {
  if (!(event instanceof MessageEvent)) return;
  const { options, reading }: SandboxTask = event.data;
  const code = await serve(options, reading === "workspace" ? { readable: () => true } : undefined);
  event.ports[0]?.postMessage(code);
}, { once: true });
