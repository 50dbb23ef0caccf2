import type { ArtifactReference } from "../../model/artifact.ts";
import { createHash } from "node:crypto";
import { digestOf } from "../../model/digest.ts";
import type { EngineContext } from "../contract.ts";
import { LIMITS } from "../../limits.ts";
import type { PromptPart } from "../../model/prompt.ts";
import { untilAborted } from "../waiting.ts";

/**
 * Says what arrived, a line a block: kind, name, size and digest of what the Host holds, never the words themselves. The bytes
 * are read and hashed; throws where they differ from their reference.
 */
export async function accountOf(
  parts: readonly PromptPart[],
  context: EngineContext,
  signal: AbortSignal,
): Promise<string> {
  const lines = [`The workbench received ${parts.length} ${parts.length === 1 ? "block" : "blocks"}:`];
  for (const part of parts) {
    const artifact = part.kind === "text" ? undefined : part.artifact;
    if (artifact !== undefined) await verify(artifact, context, signal);
    lines.push(`- ${lineOf(part)}`);
  }
  return lines.join("\n");
}

function lineOf(part: PromptPart): string {
  if (part.kind === "text") {
    const bytes = new TextEncoder().encode(part.text).length;
    return `text, ${bytes} bytes, sha256 ${digestOf(part.text)}`;
  }
  const lines = "lines" in part && part.lines ? `, lines ${part.lines.from} to ${part.lines.to}` : "";
  if (part.kind !== "link") return `${part.kind} ${bytesOf(part.artifact)}${lines}`;
  const what = part.artifact ? bytesOf(part.artifact) : `${part.name}, a reference without bytes`;
  return `link ${what}${lines}`;
}

function bytesOf({ name, mimeType, size, sha256 }: ArtifactReference): string {
  return `${name} (${mimeType}), ${size} bytes, sha256 ${sha256}`;
}

async function verify(
  artifact: ArtifactReference,
  context: EngineContext,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash("sha256");
  let offset = 0;
  while (offset < artifact.size) {
    const bytes = await untilAborted(context.readArtifact(artifact, offset, LIMITS.appendBytes), signal);
    if (bytes.length === 0) break;
    hash.update(bytes);
    offset += bytes.length;
  }
  if (offset !== artifact.size || hash.digest("hex") !== artifact.sha256) {
    throw new Error(`What the Host holds of ${artifact.name} differs from its reference`);
  }
}
