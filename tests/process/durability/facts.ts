import type { ArtifactReference } from "../../../src/model/artifact.ts";
import type { SessionState, SessionStore } from "../../../src/host/store/contract.ts";
import { decodeBody, type RowBody } from "../../../src/model/row.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { silentLog } from "../../../src/model/log.ts";

/** What the disk knows of one Session. */
export interface SessionFacts {
  readonly state: SessionState;
  readonly rows: readonly RowBody[];
  readonly artifacts: readonly ArtifactReference[];
  /** Interactions that were asked for and are known as closed. */
  readonly interactions: ReadonlySet<string>;
}

/** What the disk knows, by Session. */
export type Facts = ReadonlyMap<string, SessionFacts>;

const LIMIT = 1000;
const LENGTH = 16 * 1024 * 1024;

/** Reads a state folder that no process holds. Throws where anything in it is damaged. */
export async function readFacts(folder: string, interactionIds: readonly string[] = []): Promise<Facts> {
  const store = await openFolderStore({ folder, log: silentLog });
  try {
    const facts = new Map<string, SessionFacts>();
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
      for (const { sessionId } of page.sessions) {
        const session = await store.hold(sessionId);
        try {
          facts.set(sessionId, await sessionFacts(session, interactionIds));
        } finally {
          await session.close();
        }
      }
      cursor = page.next;
    } while (cursor !== undefined);
    return facts;
  } finally {
    await store.close();
  }
}

async function sessionFacts(session: SessionStore, interactionIds: readonly string[]): Promise<SessionFacts> {
  const rows: RowBody[] = [];
  for (let after = 0;;) {
    const page = await session.rows({ after, limit: LIMIT, length: LENGTH, maxLength: LENGTH });
    for (const { head, text } of page) rows.push(decodeBody(head.kind, text));
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.head.seq;
  }
  const interactions = new Set<string>();
  for (const id of interactionIds) if (await session.interaction(id) !== undefined) interactions.add(id);
  const artifacts = (await session.artifacts.list()).map(({ artifact }) => artifact);
  for (const { artifactId, size } of artifacts) {
    const bytes = await session.artifacts.read(artifactId, 0, size);
    if (bytes.length !== size) throw new Error(`Artifact ${artifactId} has ${bytes.length} of ${size} bytes`);
  }
  return { state: await session.load(), rows, artifacts, interactions };
}
