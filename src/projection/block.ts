import { type Block, boundedBlock, bytesOfBase64, type LinkBlock } from "../model/block.ts";
import { fits, jsonText, metaMember, oneLine, pushText, UPDATE_BYTES } from "./encode.ts";
import { CHUNK_TAIL, chunkHead, chunkStart } from "./message.ts";
import type { Channel } from "../model/message.ts";
import type { EncodedUpdate } from "./step.ts";
import { LIMITS } from "../limits.ts";
import type { Meta } from "../model/json.ts";

/** Encoded bytes of annotations that pass. */
const ANNOTATION_BYTES = 1024;

/**
 * A part of a message that is not just text, as it was said. Bytes go whole up to {@linkcode LIMITS.imageBytes}, whatever the length of
 * their line; text that does not fit into one is split.
 */
export function pushBlock(
  out: EncodedUpdate[],
  id: string,
  channel: Channel,
  wanted: Block,
  meta: Meta | undefined,
): void {
  const block = boundedBlock(wanted, LIMITS.imageBytes);
  const outer = metaMember(meta);
  const json = blockJson(block);
  const update = `${chunkStart(id, channel)}${json}${outer}}`;
  if (block.kind === "text" && block.text === "") return;
  if (fits(update, UPDATE_BYTES) || isWhole(block)) out.push(update);
  else pushText(out, chunkHead(id, channel), wordsOf(block), CHUNK_TAIL, `}${outer}}`);
}

/** Whether a block's bytes cannot be parted, so that its line may be as long as they are. */
function isWhole(block: Block): boolean {
  return block.kind === "image" || block.kind === "audio" || block.kind === "resource";
}

/** What is said of a block that does not fit. */
function wordsOf(block: Block): string {
  if (block.kind === "text") return block.text;
  return `[${block.kind}: ${oneLine(block.kind === "link" ? block.name : "", LIMITS.titleLength)}]`;
}

/** A content block as the protocol has it. */
export function blockJson(block: Block): string {
  const extra = `${annotationsMember(block)}${metaMember(block.meta)}}`;
  switch (block.kind) {
    case "text":
      return `{"type":"text","text":${jsonText(block.text)}${extra}`;
    case "image":
    case "audio": {
      const { kind, mimeType, data, uri } = block;
      const place = kind === "audio" || uri === undefined || uri.length > LIMITS.uriBytes
        ? ""
        : `,"uri":${jsonText(uri)}`;
      return `{"type":"${kind}","mimeType":${jsonText(oneLine(mimeType, 128))}${place},"data":${
        jsonText(data)
      }${extra}`;
    }
    case "link":
      return `{"type":"resource_link","uri":${jsonText(block.uri)},"name":${
        jsonText(oneLine(block.name, LIMITS.titleLength))
      }${linkMembers(block)}${extra}`;
    case "resource": {
      const { uri, mimeType, text, blob, contentMeta } = block;
      const content = blob === undefined ? `"text":${jsonText(text ?? "")}` : `"blob":${jsonText(blob)}`;
      const type = mimeType === undefined ? "" : `,"mimeType":${jsonText(oneLine(mimeType, 128))}`;
      return `{"type":"resource","resource":{"uri":${jsonText(uri)}${type},${content}${
        metaMember(contentMeta)
      }}${extra}`;
    }
  }
}

function linkMembers({ mimeType, title, description, size }: LinkBlock): string {
  const add = (name: string, value: string | undefined, length: number): string =>
    value === undefined ? "" : `,"${name}":${jsonText(oneLine(value, length))}`;
  const bytes = size !== undefined && Number.isSafeInteger(size) && size >= 0 ? `,"size":${size}` : "";
  return add("mimeType", mimeType, 128) + add("title", title, LIMITS.titleLength) +
    add("description", description, LIMITS.commandLength) + bytes;
}

function annotationsMember({ annotations }: Block): string {
  if (annotations === undefined) return "";
  const json = JSON.stringify(annotations);
  return fits(json, ANNOTATION_BYTES) ? `,"annotations":${json}` : "";
}

/** Bytes inside of a block that go whole beside the text of a card. */
export function wholeBytesOf(block: Block): number | undefined {
  switch (block.kind) {
    case "image":
    case "audio":
      return bytesOfBase64(block.data);
    case "resource":
      return block.blob === undefined ? undefined : bytesOfBase64(block.blob);
    default:
      return undefined;
  }
}
