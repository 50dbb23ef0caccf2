import type { ClientServices, McpServer, SessionInfo } from "../contract.ts";
import { digestOf } from "../../model/digest.ts";
import type { Engine } from "../../engine/contract.ts";
import type { EngineArchive, KeptSession } from "../../engine/archive.ts";
import type { Meta } from "../../model/json.ts";
import type { Store } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import { boundTitle } from "./bounds.ts";
import { isId } from "./names.ts";
import { type Inherited, type Taken, Takeover } from "./takeover.ts";
import type { HostParts } from "./works.ts";

/** A Session that only the Engine has. */
export interface Outside {
  readonly kept: KeptSession;
  /** As lists show it. */
  readonly info: SessionInfo;
}

/** Who wants an Engine's Session, and what for. */
export interface Taker {
  readonly connectionId: string;
  readonly roots: readonly string[];
  readonly mcpServers: readonly McpServer[];
  readonly meta?: Meta;
  readonly client?: ClientServices;
}

/** What was heard of the Engine for one filter. */
interface Heard {
  readonly at: number;
  readonly sessions: readonly Outside[];
}

/** Milliseconds in which a list is not asked for again: an editor may ask for shorter and shorter pages. */
const FRESH_MS = 1000;
/** Filters whose lists are kept for the pages that follow. */
const KEPT = 16;

/**
 * The Sessions that the Engine of new Sessions keeps by itself, as the Host sees them. The other Engines are not asked: each of them would
 * have to be started for it.
 */
export class Archive {
  readonly engineId: string;
  readonly #engine: Engine;
  readonly #archive: EngineArchive;
  readonly #store: Store;
  readonly #host: HostParts;
  readonly #closing = new AbortController();
  /** By the filter, the oldest first. */
  readonly #heard = new Map<string, Heard>();
  readonly #asking = new Map<string, Promise<readonly Outside[]>>();

  /** Asks nothing yet. */
  constructor(engine: Engine, archive: EngineArchive, store: Store, host: HostParts) {
    this.engineId = engine.profile.engineId;
    this.#engine = engine;
    this.#archive = archive;
    this.#store = store;
    this.#host = host;
  }

  /**
   * Sessions of the Engine, in any order. `next` is for a further page of a list. Never rejects; undefined where the Engine failed, or did
   * not answer within `limits.archiveMs`: it goes on, so that a later list has its answer.
   */
  async sessions(
    cwd: string | undefined,
    client: ClientServices | undefined,
    page: "first" | "next",
  ): Promise<readonly Outside[] | undefined> {
    const { clock, limits, log } = this.#host;
    const heard = this.#heard.get(cwd ?? "");
    if (heard !== undefined && (page === "next" || clock.now() - heard.at < FRESH_MS)) return heard.sessions;
    const waited = new AbortController();
    const answer = this.#ask(cwd, client).catch((error) => {
      log.warn("The agent did not tell which Sessions it keeps", { error: sentenceOf(error) });
      return undefined;
    });
    const late = clock.sleep(limits.archiveMs, waited.signal).then(() => {
      log.warn("The agent is slow to tell which Sessions it keeps: the list goes without", {
        ms: limits.archiveMs,
      });
      return heard?.sessions;
    }, () => undefined);
    return await Promise.race([answer, late]).finally(() => waited.abort());
  }

  /** The Engine's Session that lists show by this id, unless one of the Host's stands for it. `unavailable` where the Engine fails. */
  async find(sessionId: string, client: ClientServices | undefined): Promise<Outside | undefined> {
    const named = (all: readonly Outside[]) => all.find(({ info }) => info.sessionId === sessionId);
    const known = [...this.#heard.values()].map(({ sessions }) => named(sessions)).find(Boolean);
    const found = known ?? named(
      await this.#ask(undefined, client).catch((error) => {
        throw hostErrorOf(error, "Cannot ask the agent whether it keeps this Session");
      }),
    );
    if (found === undefined) return undefined;
    const wrapped = await this.#store.keptAs(this.engineId);
    return wrapped.has(found.kept.keptAs) ? undefined : found;
  }

  /** Has the Engine go on with one of its Sessions, and takes in its past. Nothing is saved. */
  async take({ kept, info }: Outside, taker: Taker): Promise<Taken & { readonly inherited: Inherited }> {
    const { connectionId, roots, mcpServers, meta, client } = taker;
    const takeover = new Takeover({
      host: this.#host,
      info: { ...info, roots },
      mcpServers,
      meta,
      connectionId,
    });
    return await this.#within(async (signal) => {
      try {
        const { context, past } = takeover;
        const session = await this.#archive.take(kept, context, past, { client }, signal);
        try {
          const taken = await takeover.finish();
          return { ...taken, inherited: { session, settle: (heir) => takeover.settle(heir) } };
        } catch (error) {
          await session.close();
          throw error;
        }
      } catch (error) {
        throw hostErrorOf(error, "Cannot take this Session over from the agent");
      }
    });
  }

  /** Nobody wants this Session of the Engine any more. Rejects where the Engine refuses. */
  async remove(keptAs: string): Promise<void> {
    await this.#within(async (signal) => {
      await this.#archive.remove(keptAs, signal).catch((error) => {
        throw hostErrorOf(error, "The agent does not delete its Session");
      });
    });
    for (const [filter, { at, sessions }] of this.#heard) {
      this.#heard.set(filter, { at, sessions: sessions.filter(({ kept }) => kept.keptAs !== keptAs) });
    }
  }

  /** Gives up what is asked for. */
  close(): void {
    this.#closing.abort(new HostError("unavailable", "The Host is shutting down", { dispatch: "not_sent" }));
  }

  /** All that the Engine tells for a filter. Whoever asks meanwhile gets the same answer. */
  #ask(cwd: string | undefined, client: ClientServices | undefined): Promise<readonly Outside[]> {
    const filter = cwd ?? "";
    const asking = this.#asking.get(filter) ?? this.#within(async (signal) => {
      const told = await this.#archive.list({ cwd, client }, signal);
      const sessions = told.filter((kept) => cwd === undefined || kept.cwd === cwd)
        .map((kept) => ({ kept, info: this.#infoOf(kept) }));
      this.#heard.delete(filter);
      this.#heard.set(filter, { at: this.#host.clock.now(), sessions });
      for (const oldest of this.#heard.keys()) {
        if (this.#heard.size <= KEPT) break;
        this.#heard.delete(oldest);
      }
      return sessions;
    }).finally(() => this.#asking.delete(filter));
    this.#asking.set(filter, asking);
    return asking;
  }

  /** Bounds what the Engine is asked for; past that it is given up. */
  async #within<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, limits: { takeoverMs } } = this.#host;
    const over = new AbortController();
    const late = new AbortController();
    clock.sleep(takeoverMs, AbortSignal.any([over.signal, this.#closing.signal])).then(() => {
      late.abort(new HostError("unavailable", `The agent did not answer for ${takeoverMs / 1000} seconds`));
    }, () => {});
    const signal = AbortSignal.any([late.signal, this.#closing.signal]);
    signal.throwIfAborted();
    const given = Promise.withResolvers<never>();
    const giveUp = () => given.reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    return await Promise.race([act(signal), given.promise]).finally(() => {
      signal.removeEventListener("abort", giveUp);
      over.abort();
    });
  }

  #infoOf(kept: KeptSession): SessionInfo {
    const { options, commands } = this.#engine.profile;
    const { keptAs, cwd, roots, updatedAt = 0 } = kept;
    const title = boundTitle(kept.title, this.#host.limits);
    return {
      sessionId: sessionIdOf(this.engineId, keptAs),
      cwd,
      roots,
      engineId: this.engineId,
      createdAt: updatedAt,
      updatedAt,
      config: { revision: 1, options },
      commands,
      keptAs,
      ...(title !== undefined && { title }),
    };
  }
}

/** The Host's id of a Session that an Engine keeps: the Engine's own, where that can be one. */
function sessionIdOf(engineId: string, keptAs: string): string {
  return isId(keptAs) ? keptAs : `kept-${digestOf(JSON.stringify([engineId, keptAs])).slice(0, 40)}`;
}

function hostErrorOf(error: unknown, doing: string): HostError {
  if (error instanceof HostError) return error;
  return new HostError("unavailable", `${doing}: ${sentenceOf(error)}`, { cause: error });
}

function sentenceOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : "it did not say why";
}
