import type { JsonObject, Meta } from "./json.ts";

/** What all blocks have. */
export interface BlockBase {
  /** Who it is for and how much it matters, passed through unread. */
  readonly annotations?: JsonObject;
  /** Passed through unread. */
  readonly meta?: Meta;
}

/** Bytes inside of what an Engine says, as base64. */
export interface MediaBlock {
  /** What they are. */
  readonly kind: "image" | "audio";
  /** As whoever made them says. */
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
  /** Where they come from. */
  readonly uri?: string;
}

/** A reference, of which nothing is read. */
export interface LinkBlock {
  /** Says that it is one. */
  readonly kind: "link";
  /** Where it leads. */
  readonly uri: string;
  /** For people. */
  readonly name: string;
  /** Of what is there. */
  readonly mimeType?: string;
  /** A better name. */
  readonly title?: string;
  /** More about it. */
  readonly description?: string;
  /** In bytes. */
  readonly size?: number;
}

/** What a URI stands for, with its content: `text`, or bytes as base64 in `blob`. */
export interface ResourceBlock {
  /** Says that it is one. */
  readonly kind: "resource";
  /** What stands for it. */
  readonly uri: string;
  /** Of the content. */
  readonly mimeType?: string;
  /** The content, where that is text. */
  readonly text?: string;
  /** The content, where that is bytes. */
  readonly blob?: string;
  /** Of the content itself, passed through unread. */
  readonly contentMeta?: Meta;
}

/** One piece of what an Engine shows: a part of a message that is not just text, an item of a tool's result. */
export type Block =
  & BlockBase
  & ({ readonly kind: "text"; readonly text: string } | MediaBlock | LinkBlock | ResourceBlock);

/** Bytes that stand behind base64. */
export function bytesOfBase64(data: string): number {
  return Math.floor(data.length * 3 / 4);
}

/** How many bytes a block carries whole; 0 for what can be cut. */
export function payloadOf(block: Block): number {
  switch (block.kind) {
    case "image":
    case "audio":
      return bytesOfBase64(block.data);
    case "resource":
      return block.blob === undefined ? block.text?.length ?? 0 : bytesOfBase64(block.blob);
    default:
      return 0;
  }
}

/** A block within `bytes`; in place of a larger one stands its link, or its name where it has none. */
export function boundedBlock(block: Block, bytes: number): Block {
  const payload = payloadOf(block);
  if (payload <= bytes || block.kind === "text" || block.kind === "link") return block;
  const { annotations, meta, mimeType, uri } = block;
  const base: BlockBase = {
    ...(annotations !== undefined && { annotations }),
    ...(meta !== undefined && { meta }),
  };
  const what = `${block.kind}, ${Math.ceil(payload / 1024)} KiB`;
  if (uri === undefined) {
    return { ...base, kind: "text", text: `[${what} of ${mimeType}: too large to show]` };
  }
  return {
    ...base,
    kind: "link",
    uri,
    name: what,
    ...(mimeType !== undefined && { mimeType }),
    size: payload,
  };
}
