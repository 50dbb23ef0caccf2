import type { ArtifactReference } from "../../model/artifact.ts";
import { cut } from "./shape.ts";
import type { EngineContext } from "../contract.ts";
import type { Hello } from "./hello.ts";
import type { JsonObject, Meta } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import type { PromptPart, TurnInput } from "../../model/prompt.ts";

/** A prompt as the agent gets it. */
export interface PromptBlocks {
  readonly blocks: readonly JsonObject[];
  /** What the agent does not take and got as a link instead, in words. */
  readonly degraded: readonly string[];
}

/** Bytes of all that goes into one prompt; a line of more than 32 MiB ends many an agent's connection. */
const EMBEDDED_BYTES = 16 * 1024 * 1024;

/** The parts of a prompt as content blocks, bytes from the Host in what the agent takes, links with their original URI. */
export async function blocksOf(
  input: TurnInput,
  takes: Hello["prompt"],
  context: EngineContext,
  signal: AbortSignal,
): Promise<PromptBlocks> {
  const blocks: JsonObject[] = [];
  const degraded: string[] = [];
  let left = EMBEDDED_BYTES;
  for (const part of input.parts) {
    const extra: JsonObject = part.meta === undefined ? {} : { _meta: part.meta };
    switch (part.kind) {
      case "text":
        blocks.push({ type: "text", text: part.text, ...extra });
        continue;
      case "link":
        blocks.push({ ...linkOf(part, part.uri, part.name), ...extra });
        continue;
    }
    const { artifact } = part;
    const taken = part.kind === "resource" ? takes.embeddedContext : takes[part.kind];
    if (!taken || artifact.size > left) {
      const uri = part.uri ?? `artifact:${artifact.artifactId}`;
      blocks.push({
        ...linkOf({ mimeType: part.mimeType }, uri, artifact.name),
        size: artifact.size,
        ...extra,
      });
      degraded.push(
        `${cut(artifact.name, 200)}: ${taken ? "too large" : `the agent takes no ${WORDS[part.kind]}`}`,
      );
      continue;
    }
    left -= artifact.size;
    blocks.push({ ...embedded(part, await bytesOf(artifact, context, signal)), ...extra });
  }
  return { blocks, degraded };
}

const WORDS = { image: "images", audio: "audio", resource: "embedded resources" } as const;

function linkOf(
  part: { mimeType?: string; title?: string; description?: string },
  uri: string,
  name: string,
): JsonObject {
  const { mimeType, title, description } = part;
  return {
    type: "resource_link",
    uri,
    name,
    ...(mimeType !== undefined && { mimeType }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}

type Embeddable = Exclude<PromptPart, { kind: "text" | "link"; meta?: Meta }>;

function embedded(part: Embeddable, bytes: Uint8Array): JsonObject {
  if (part.kind !== "resource") {
    const { kind, mimeType, uri } = part;
    return {
      type: kind,
      mimeType,
      data: bytes.toBase64(),
      ...(uri !== undefined && kind === "image" && { uri }),
    };
  }
  const { uri, mimeType } = part;
  const about = { uri, ...(mimeType !== undefined && { mimeType }) };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { type: "resource", resource: { ...about, text } };
  } catch {
    return { type: "resource", resource: { ...about, blob: bytes.toBase64() } };
  }
}

async function bytesOf(
  artifact: ArtifactReference,
  context: EngineContext,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(artifact.size);
  for (let at = 0; at < bytes.length;) {
    signal.throwIfAborted();
    const piece = await context.readArtifact(artifact, at, Math.min(LIMITS.appendBytes, bytes.length - at));
    if (piece.length === 0) throw new Error(`The bytes of "${artifact.name}" end too early`);
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
