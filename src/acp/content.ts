import type { ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { Draft, DraftPart } from "../session/draft.ts";
import type { EngineProfile } from "../host/contract.ts";
import { LIMITS } from "../limits.ts";
import { boundedMeta } from "./meta.ts";
import { invalidParams } from "./errors.ts";
import type { PromptParams } from "./params.ts";

type Accepted = EngineProfile["prompt"];

/** UTF-16 units of a name that is taken from a URI. */
const NAME_LENGTH = 200;

/**
 * A prompt's content blocks as a draft, in their order. `accepts` is what was advertised. Throws -32602 for what was not, and for
 * bytes that are not base64 or too many.
 */
export function draftOf({ prompt, _meta }: PromptParams, accepts: Accepted): Draft {
  return {
    parts: prompt.map((block, index) => partOf(block, `prompt[${index}]`, accepts)),
    meta: boundedMeta(_meta),
  };
}

function partOf(block: ContentBlock, field: string, accepts: Accepted): DraftPart {
  const meta = boundedMeta(block._meta);
  switch (block.type) {
    case "text":
      return { kind: "text", text: block.text, meta };
    case "resource_link": {
      const { uri, name, mimeType, title, description } = block;
      return {
        kind: "link",
        uri,
        name,
        mimeType: mimeType ?? undefined,
        title: title ?? undefined,
        description: description ?? undefined,
        meta,
      };
    }
    case "image":
      if (!accepts.image) throw notTaken(field, "images");
      return {
        kind: "bytes",
        purpose: "image",
        uri: block.uri ?? undefined,
        name: nameOf(block.uri ?? "", "image"),
        mimeType: block.mimeType,
        bytes: bytesOf(block.data, `${field}.data`),
        meta,
      };
    case "audio":
      if (!accepts.audio) throw notTaken(field, "audio");
      return {
        kind: "bytes",
        purpose: "audio",
        name: "audio",
        mimeType: block.mimeType,
        bytes: bytesOf(block.data, `${field}.data`),
        meta,
      };
    case "resource": {
      if (!accepts.embeddedContext) throw notTaken(field, "embedded resources");
      const { resource } = block;
      const isText = "text" in resource;
      return {
        kind: "bytes",
        purpose: "resource",
        uri: resource.uri,
        name: nameOf(resource.uri, "resource"),
        mimeType: resource.mimeType ?? (isText ? "text/plain" : "application/octet-stream"),
        bytes: isText
          ? bounded(new TextEncoder().encode(resource.text), `${field}.resource.text`)
          : bytesOf(resource.blob, `${field}.resource.blob`),
        meta,
      };
    }
  }
}

function notTaken(field: string, what: string): RequestError {
  return invalidParams(
    `${field}.type`,
    `something else: this agent takes no ${what}, as its capabilities say`,
  );
}

function bytesOf(data: string, field: string): Uint8Array {
  // Refused before the bytes exist.
  if (data.length / 4 * 3 - 2 > LIMITS.artifactBytes) throw tooLarge(field);
  try {
    return Uint8Array.fromBase64(data, { lastChunkHandling: "strict" });
  } catch {
    throw invalidParams(field, "base64 with its padding");
  }
}

function bounded(bytes: Uint8Array, field: string): Uint8Array {
  if (bytes.length > LIMITS.artifactBytes) throw tooLarge(field);
  return bytes;
}

function tooLarge(field: string): RequestError {
  return invalidParams(field, `at most ${LIMITS.artifactBytes} bytes long`);
}

/** The last step of a URI's path as people read it. */
function nameOf(uri: string, otherwise: string): string {
  const path = uri.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name).slice(0, NAME_LENGTH) || otherwise;
  } catch {
    return name.slice(0, NAME_LENGTH) || otherwise;
  }
}
