import type { ArtifactReference } from "./artifact.ts";
import type { Meta } from "./json.ts";

/** The part of a linked file that an editor pointed at; lines count from 1, both ends included. */
export interface LineRange {
  /** First line, from 1. */
  readonly from: number;
  /** Last line, itself included. */
  readonly to: number;
}

/** What all kinds of parts have. */
export interface PartBase {
  /** Passed through unread. */
  readonly meta?: Meta;
}

/**
 * One piece of a prompt, in the order in which the Client sent it. A part keeps the original URI, byte for byte;
 * `artifact` is there where the Host holds the bytes.
 */
export type PromptPart =
  | PartBase & { readonly kind: "text"; readonly text: string }
  | PartBase & {
    readonly kind: "link";
    readonly uri: string;
    readonly name: string;
    readonly mimeType?: string;
    readonly title?: string;
    readonly description?: string;
    readonly lines?: LineRange;
    readonly artifact?: ArtifactReference;
  }
  | PartBase & {
    readonly kind: "resource";
    readonly uri: string;
    readonly mimeType?: string;
    readonly lines?: LineRange;
    readonly artifact: ArtifactReference;
  }
  | PartBase & {
    readonly kind: "image" | "audio";
    readonly mimeType: string;
    readonly uri?: string;
    readonly artifact: ArtifactReference;
  };

/** What a Turn is started with, and the body of its `user` row. */
export interface TurnInput {
  /** In the order of the prompt. */
  readonly parts: readonly PromptPart[];
  /** Passed through unread. */
  readonly meta?: Meta;
}
