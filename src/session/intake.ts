import type { EngineProfile, RuntimeHost } from "../host/contract.ts";
import type { ArtifactReference } from "../model/artifact.ts";
import type { PromptPart, TurnInput } from "../model/prompt.ts";
import { upload } from "../resource/mod.ts";
import type { Draft, DraftPart } from "./draft.ts";
import type { Clock, Files, Ids, Link, Log } from "./ports.ts";

/**
 * A prompt on its way to the Host: links are opened first, bytes are uploaded later. Until a Turn pins them the Artifacts are
 * provisional, and {@linkcode Intake.abort} takes them back.
 */
export class Intake {
  readonly #draft: Draft;
  readonly #links: readonly (Link | undefined)[];
  readonly #uploads: string[] = [];

  private constructor(draft: Draft, links: readonly (Link | undefined)[]) {
    this.#draft = draft;
    this.#links = links;
  }

  /** Opens every link of the draft within `roots`; throws {@linkcode ResourceError} and opens none. */
  static async open(
    draft: Draft,
    options: { files: Files; roots: readonly string[]; profile: EngineProfile },
  ): Promise<Intake> {
    const links: (Link | undefined)[] = [];
    const intake = new Intake(draft, links);
    try {
      for (const part of draft.parts) {
        links.push(
          part.kind === "link"
            ? await options.files.link(part.uri, options.roots, {
              directories: options.profile.linkedDirectories,
            })
            : undefined,
        );
      }
    } catch (error) {
      intake.close();
      throw error;
    }
    return intake;
  }

  /** Uploads what has bytes, in order, and returns what the Turn is started with. */
  async upload(
    options: { host: RuntimeHost; sessionId: string; ids: Ids; clock: Clock; signal: AbortSignal },
  ): Promise<TurnInput> {
    const parts: PromptPart[] = [];
    for (const [index, part] of this.#draft.parts.entries()) {
      options.signal.throwIfAborted();
      const send = (
        source: { name: string; mimeType: string; bytes: AsyncIterable<Uint8Array> | Uint8Array },
      ) => {
        const uploadId = options.ids.next();
        this.#uploads.push(uploadId);
        return upload(
          options.host.artifacts,
          { sessionId: options.sessionId, uploadId },
          source,
          options.signal,
          options.clock,
        );
      };
      parts.push(await partOf(part, this.#links[index], send));
    }
    return { parts, meta: this.#draft.meta };
  }

  /** Takes back what was uploaded: no Turn uses it. */
  async abort(host: RuntimeHost, sessionId: string, log: Log): Promise<void> {
    await Promise.all(
      this.#uploads.splice(0).map((uploadId) =>
        host.artifacts.abort({ sessionId, uploadId }).catch((error) =>
          log.warn("a staged upload could not be taken back", { uploadId, reason: String(error) })
        )
      ),
    );
  }

  /** Closes the linked files. */
  close(): void {
    for (const link of this.#links) if (link?.kind === "file") link.file.close();
  }
}

type Send = (
  source: { name: string; mimeType: string; bytes: AsyncIterable<Uint8Array> | Uint8Array },
) => Promise<ArtifactReference>;

async function partOf(part: DraftPart, link: Link | undefined, send: Send): Promise<PromptPart> {
  switch (part.kind) {
    case "text":
      return part;
    case "bytes": {
      const { purpose, uri, name, mimeType, bytes, meta } = part;
      const artifact = await send({ name, mimeType, bytes });
      if (purpose === "resource") return { kind: purpose, uri: uri ?? name, mimeType, artifact, meta };
      return { kind: purpose, uri, mimeType, artifact, meta };
    }
    case "link": {
      if (link?.kind !== "file") return { ...part, lines: link?.lines };
      const { file } = link;
      const mimeType = part.mimeType ?? file.mimeType;
      const artifact = await send({ name: file.name, mimeType, bytes: file.bytes() });
      return { ...part, mimeType, lines: file.lines, artifact };
    }
  }
}
