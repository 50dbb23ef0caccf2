import type { EngineProfile } from "../../host/contract.ts";
import { isRecord } from "./shape.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { z } from "zod";

/** What is kept of an agent for the next start. */
export type AgentMemory =
  & Pick<EngineProfile, "prompt" | "mcp">
  & Partial<Pick<EngineProfile, "version" | "options" | "commands" | "authMethods" | "beyond">>
  & {
    /** Whether it keeps Sessions that can be listed and gone on with. */
    readonly archives?: boolean;
    /** Sessions of it that nobody wants to see any more, the oldest first. */
    readonly removed?: readonly string[];
  };

/** JSON objects that nobody looks into, however deep they are. */
const opaque = z.custom<JsonObject>(isRecord);

const base = {
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  category: z.string().optional(),
};
const choice = z.object({ value: z.string(), name: z.string(), description: z.string().optional() });
const option = z.union([
  z.object({ ...base, type: z.literal("select"), value: z.string(), choices: z.array(choice) }),
  z.object({ ...base, type: z.literal("boolean"), value: z.boolean() }),
]);

const schema = z.object({
  version: z.string().optional(),
  prompt: z.object({ image: z.boolean(), audio: z.boolean(), embeddedContext: z.boolean() }),
  mcp: z.object({ http: z.boolean(), sse: z.boolean() }),
  options: z.array(option).optional(),
  commands: z.array(z.object({ name: z.string(), description: z.string(), hint: z.string().optional() }))
    .optional(),
  authMethods: z.array(opaque).optional(),
  beyond: z.object({ capabilities: opaque, meta: opaque.optional() }).optional(),
  archives: z.boolean().optional(),
  removed: z.array(z.string()).optional(),
});

/** Reads what was kept; undefined for what cannot be read, which is then learnt anew. */
export function memoryOf(kept: Json | undefined): AgentMemory | undefined {
  if (kept === undefined) return undefined;
  const read = schema.safeParse(kept);
  return read.success ? read.data : undefined;
}
