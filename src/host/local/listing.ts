import type { ClientServices, SessionInfo, SessionPage } from "../contract.ts";
import type { Store } from "../store/contract.ts";
import { type ListPosition, newestFirst, sealed, unsealed } from "../store/cursor.ts";
import type { Archive, Outside } from "./archive.ts";

/** What a page is wanted of. */
export interface ListRequest {
  readonly cwd?: string;
  readonly cursor?: string;
  readonly limit: number;
  readonly client?: ClientServices;
}

/** Where a page ended. */
interface Place {
  /** The last Session that was shown. */
  readonly behind: ListPosition;
  /** Where the store's page begins that it was on; null for the first page. */
  readonly own: string | null;
  /** Whether the list has the Engine's Sessions: one that began without goes on without. */
  readonly outside: "shown" | "left_out";
}

/** Own Sessions behind a place, with the cursor of the store's page that each came with. */
interface OwnSessions {
  readonly sessions: readonly { readonly info: SessionInfo; readonly page: string | null }[];
  /** Of the page that follows them; null where there is none. */
  readonly next: string | null;
}

/** How cursors of ours begin, so that they are told from the store's. */
const MARK = "k.";

/** Merges the Sessions of the store with those that the Engine keeps by itself: newest first, none twice. */
export class Listing {
  readonly #store: Store;
  readonly #archive: Archive;

  constructor(store: Store, archive: Archive) {
    this.#store = store;
    this.#archive = archive;
  }

  /** One page. `invalid` for a cursor that is not from here. */
  async page({ cwd, cursor, limit, client }: ListRequest): Promise<SessionPage> {
    const scope = { storeId: this.#store.storeId, cwd };
    const from = cursor === undefined ? undefined : placeOf(unsealed(scope, cursor, MARK));
    const own = await this.#own(cwd, from, limit);
    const heard = from?.outside === "left_out"
      ? undefined
      : await this.#archive.sessions(cwd, client, from === undefined ? "first" : "next");
    const theirs = await this.#theirs(heard ?? [], from);
    const sessions: SessionInfo[] = [];
    let at = 0;
    let there = 0;
    while (sessions.length < limit) {
      const mine = own.sessions[at]?.info;
      const their = theirs[there];
      if (their !== undefined && (mine === undefined || newestFirst(their, mine) < 0)) {
        there++;
        if (await this.#store.get(their.sessionId) === undefined) sessions.push(their);
      } else if (mine !== undefined) {
        at++;
        sessions.push(mine);
      } else break;
    }
    const behind = sessions.at(-1);
    const left = own.sessions[at];
    if (behind === undefined || (left === undefined && own.next === null && there === theirs.length)) {
      return { sessions };
    }
    const place: Place = {
      behind: { updatedAt: behind.updatedAt, sessionId: behind.sessionId },
      own: left === undefined ? own.next : left.page,
      outside: heard === undefined ? "left_out" : "shown",
    };
    return { sessions, cursor: sealed(scope, JSON.stringify(place), MARK) };
  }

  /** At least `limit` own Sessions behind a place, where there are so many. */
  async #own(cwd: string | undefined, from: Place | undefined, limit: number): Promise<OwnSessions> {
    const sessions: { info: SessionInfo; page: string | null }[] = [];
    for (let page = from?.own ?? null;;) {
      const found = await this.#store.list({ cwd, cursor: page ?? undefined, limit });
      for (const info of found.sessions) if (isBehind(info, from)) sessions.push({ info, page });
      const next = found.next ?? null;
      if (next === null || sessions.length >= limit) return { sessions, next };
      page = next;
    }
  }

  /** The Engine's Sessions behind a place, newest first, without those that an own one stands for. */
  async #theirs(heard: readonly Outside[], from: Place | undefined): Promise<readonly SessionInfo[]> {
    if (heard.length === 0) return [];
    const wrapped = await this.#store.keptAs(this.#archive.engineId);
    return heard.filter(({ kept, info }) => !wrapped.has(kept.keptAs) && isBehind(info, from))
      .map(({ info }) => info)
      .sort(newestFirst);
  }
}

function isBehind(info: SessionInfo, from: Place | undefined): boolean {
  return from === undefined || newestFirst(info, from.behind) > 0;
}

/** The seal says that it is one of ours. */
function placeOf(text: string): Place {
  return JSON.parse(text) as Place;
}
