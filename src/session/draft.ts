import type { Meta } from "../model/json.ts";

/** What all kinds of parts have. */
export interface DraftBase {
  /** Passed through unread. */
  readonly meta?: Meta;
}

/**
 * One piece of a prompt before its bytes are with the Host: what the Adapter's front made of a content block. Order is that of
 * the Client.
 */
export type DraftPart =
  | DraftBase & { readonly kind: "text"; readonly text: string }
  | DraftBase & {
    readonly kind: "link";
    /** As the Client wrote it, byte for byte. */
    readonly uri: string;
    readonly name: string;
    readonly mimeType?: string;
    readonly title?: string;
    readonly description?: string;
  }
  | DraftBase & {
    readonly kind: "bytes";
    readonly purpose: "resource" | "image" | "audio";
    readonly uri?: string;
    readonly name: string;
    readonly mimeType: string;
    readonly bytes: Uint8Array;
  };

/** A prompt before its bytes are with the Host. */
export interface Draft {
  /** In the order of the prompt. */
  readonly parts: readonly DraftPart[];
  /** Passed through unread. */
  readonly meta?: Meta;
}
