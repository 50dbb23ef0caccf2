import type { Agent } from "./agent.ts";
import { AgentFailure } from "./failure.ts";
import { AgentSession } from "./session.ts";
import type { EngineArchive, EnginePast, KeptRequest, KeptSession } from "../archive.ts";
import type { EngineContext, EngineSession } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { Hello } from "./hello.ts";
import { HostError } from "../../host/errors.ts";
import { isLost, type Lobby } from "./lobby.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Keeper } from "./keeper.ts";
import type { Profile } from "./profile.ts";
import { recordsOf, textOf } from "./shape.ts";
import { untilAborted } from "../waiting.ts";

/** What an {@linkcode AgentArchive} works with. */
export interface ArchiveParts {
  readonly keeper: Keeper;
  readonly lobby: Lobby;
  readonly profile: Profile;
  readonly faults: Faults;
}

/** Pages of an agent's list, and Sessions in all of them: an agent that never ends is cut off. */
const PAGES = 100;
const MOST = 5000;
/** UTF-16 units of an agent's id or path. */
const TEXT = 4096;
const ABSOLUTE = /^(?:\/|[a-zA-Z]:[\\/]|\\\\)/;

/** The Sessions that an agent keeps by itself. */
export class AgentArchive implements EngineArchive {
  readonly #parts: ArchiveParts;

  /** Starts nothing. */
  constructor(parts: ArchiveParts) {
    this.#parts = parts;
  }

  async list({ cwd, client }: KeptRequest, signal: AbortSignal): Promise<readonly KeptSession[]> {
    const { keeper, profile } = this.#parts;
    const { agent, hello } = await untilAborted(keeper.ready(client), signal);
    if (!archives(hello)) return [];
    const found = await untilAborted(this.#all(agent, cwd), signal);
    return found.filter(({ keptAs }) => {
      if (!profile.removed.has(keptAs)) return true;
      // What nobody wanted while the agent did not run.
      if (hello.delete) void this.#delete(agent, keptAs).catch(() => {});
      return false;
    });
  }

  async take(
    { keptAs }: KeptSession,
    context: EngineContext,
    past: EnginePast,
    { client }: KeptRequest,
    signal: AbortSignal,
  ): Promise<EngineSession> {
    const { keeper, lobby } = this.#parts;
    try {
      const ready = await untilAborted(keeper.ready(client), signal);
      const taken = lobby.take(ready, keptAs, context, past);
      // Whoever gives up has no use for it any more.
      const leave = () => void taken.then(({ conversation }) => conversation.end(), () => {});
      signal.addEventListener("abort", leave, { once: true });
      const opened = await untilAborted(taken, signal).finally(() =>
        signal.removeEventListener("abort", leave)
      );
      return new AgentSession(context, { keeper, lobby }, opened);
    } catch (error) {
      throw hostErrorOf(error);
    }
  }

  async remove(keptAs: string, signal: AbortSignal): Promise<void> {
    const { keeper, profile } = this.#parts;
    profile.remove(keptAs);
    const ready = await keeper.present?.catch(() => undefined);
    if (ready === undefined || !ready.hello.delete) return;
    try {
      await untilAborted(this.#delete(ready.agent, keptAs), signal);
    } catch (error) {
      profile.restore(keptAs);
      throw hostErrorOf(error);
    }
  }

  async #delete(agent: Agent, sessionId: string): Promise<void> {
    try {
      await agent.request("session/delete", { sessionId }, "delete its Session");
    } catch (error) {
      if (!(error instanceof AgentFailure && isLost(error))) throw error;
    }
    this.#parts.profile.restore(sessionId);
  }

  async #all(agent: Agent, cwd: string | undefined): Promise<readonly KeptSession[]> {
    const found = new Map<string, KeptSession>();
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let pages = 0; pages < PAGES && found.size < MOST; pages++) {
      const page = await agent.request("session/list", {
        ...(cwd !== undefined && { cwd }),
        ...(cursor !== undefined && { cursor }),
      }, "list its Sessions");
      for (const entry of recordsOf(page.sessions)) {
        const kept = keptOf(entry);
        if (kept === undefined) this.#parts.faults.count("malformed");
        else found.set(kept.keptAs, kept);
      }
      cursor = textOf(page.nextCursor);
      if (cursor === undefined) break;
      if (seen.has(cursor)) {
        this.#parts.faults.count("malformed");
        break;
      }
      seen.add(cursor);
    }
    return [...found.values()];
  }
}

/** Whether an agent has Sessions that can be listed and gone on with. */
export function archives({ list, load, resume }: Hello): boolean {
  return list && (load || resume);
}

function keptOf(
  { sessionId, cwd, additionalDirectories, title, updatedAt }: JsonObject,
): KeptSession | undefined {
  if (!isText(sessionId) || !isText(cwd) || !ABSOLUTE.test(cwd)) return undefined;
  const roots = Array.isArray(additionalDirectories) ? additionalDirectories : [];
  const time = typeof updatedAt === "string" ? Date.parse(updatedAt) : NaN;
  return {
    keptAs: sessionId,
    cwd,
    roots: roots.filter((root): root is string => isText(root) && ABSOLUTE.test(root)),
    ...(typeof title === "string" && { title }),
    ...(time > 0 && { updatedAt: time }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= TEXT && value.isWellFormed();
}

/** Why the agent's Session is not to be had, in the words of the Host. */
function hostErrorOf(error: unknown): unknown {
  if (!(error instanceof AgentFailure)) return error;
  const { message, class: kind } = error;
  if (kind === "authentication") return new HostError("unauthorized", message, { cause: error });
  return new HostError(isLost(error) ? "not_found" : "unavailable", message, { cause: error });
}
