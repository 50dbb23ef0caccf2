import { AgentFailure } from "./failure.ts";
import { Briefing, type Notice } from "./briefing.ts";
import type { ConfigOption } from "../../model/config.ts";
import { Conversation } from "./conversation.ts";
import type { EngineContext } from "../contract.ts";
import type { EnginePast } from "../archive.ts";
import { isRecord, recordOf, textOf } from "./shape.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { Ready } from "./keeper.ts";
import { type Recap, RECAP_BYTES, recapOf } from "./recap.ts";
import { UsedIds } from "./voices.ts";
import { withPreferred } from "./options.ts";

/** An agent's Session that is open. */
export interface Opened {
  readonly conversation: Conversation;
  readonly briefing: Briefing;
}

/** What a {@linkcode Lobby} needs to know. */
export interface LobbyParts {
  /** The options that new Sessions began with. */
  readonly defaults: () => readonly ConfigOption[];
  /** Values that a person wants in new Sessions. */
  readonly preferred: Readonly<Record<string, string | boolean>>;
  /** Is told of the options of a new Session as the agent said them. */
  readonly began: (options: readonly ConfigOption[]) => void;
}

/** Sessions that are kept open in an agent although nobody uses them, because it could not take them up again. */
const KEPT = 64;

const UNTOLD = "It goes on with this Session and remembers it, but has no way to show it again.";

/** Opens Sessions of agents: new ones, and those that the Host had open before. */
export class Lobby {
  readonly #parts: LobbyParts;
  /** By the Host's id of the Session, longest unused first. */
  readonly #kept = new Map<string, Conversation>();
  /** Sessions of an agent that it failed to take up once, for a reason that may pass. */
  readonly #failed = new Set<string>();

  /** Opens nothing yet. */
  constructor(parts: LobbyParts) {
    this.#parts = parts;
  }

  /**
   * The agent's Session for one of the Host's. `before` is the one that this process had open; else its id comes from what the Host
   * restored. Rejects with an {@linkcode AgentFailure}.
   */
  async open({ agent, hello }: Ready, context: EngineContext, before: Opened | undefined): Promise<Opened> {
    const notices: Notice[] = [];
    const binding = bindingOf(context, hello, notices);
    const bound = JSON.stringify(binding);
    const known = knownOf(context, before);
    const kept = this.#take(context.sessionId);
    const used = before?.conversation.used ?? kept?.used ?? new UsedIds(recordOf(context.restored).used);
    const parts = { agent, hello, bound, context, used };
    await kept?.quiet();
    if (kept !== undefined && kept.agent === agent && kept.serving) {
      if (kept.bound === bound || !(hello.resume || hello.load)) {
        if (kept.bound !== bound) {
          notices.push({
            title: "The agent keeps the folders and MCP servers that it began with",
            text: "It cannot change those of a Session that is open.",
          });
        }
        kept.rejoin(context);
        await this.#settle(kept, false, notices);
        const owed = known?.recap === "owed" ? await this.#recap(context) : undefined;
        return { conversation: kept, briefing: new Briefing(notices, owed) };
      }
      await kept.end();
    }
    const restored = known && await this.#restore(parts, known.sessionId, binding);
    const conversation = restored instanceof Conversation ? restored : await this.#begin(parts, binding);
    try {
      const owed = known !== undefined && (conversation !== restored || known.recap === "owed");
      const recap = owed ? await this.#recap(context) : undefined;
      if (typeof restored === "string") notices.push(lossOf(restored, recap));
      conversation.owes = recap === undefined ? "nothing" : "recap";
      await conversation.remember();
      await this.#settle(conversation, known === undefined, notices);
      return { conversation, briefing: new Briefing(notices, recap) };
    } catch (error) {
      // Nobody would find it any more.
      void conversation.end();
      throw error;
    }
  }

  /**
   * Goes on with a Session that the agent kept by itself: what it replays goes to `past`. Leaves nothing open where it rejects, with an
   * {@linkcode AgentFailure} or with what `past` or the context threw.
   */
  async take(
    { agent, hello }: Ready,
    keptAs: string,
    context: EngineContext,
    past: EnginePast,
  ): Promise<Opened> {
    const notices: Notice[] = [];
    const binding = bindingOf(context, hello, notices);
    const bound = JSON.stringify(binding);
    const parts = { agent, hello, bound, context, used: new UsedIds(undefined) };
    const conversation = new Conversation({ ...parts, sessionId: keptAs, past });
    try {
      const method = hello.load ? "session/load" : "session/resume";
      const opened = await agent.open(method, { ...binding, sessionId: keptAs, ...metaOf(context) });
      if (hello.load) await conversation.replayed();
      // What an agent told that fell meanwhile may be half.
      if (agent.state === "gone") await agent.gone;
      agent.over.throwIfAborted();
      await conversation.told();
      if (!hello.load) {
        const { sink } = await past.turn();
        await sink.notice("info", "The agent does not tell what was said before", UNTOLD);
      }
      conversation.live(opened);
      await conversation.remember();
      await context.configured(conversation.settings.list());
      return { conversation, briefing: new Briefing(notices, undefined) };
    } catch (error) {
      await conversation.end();
      throw error;
    }
  }

  /** The agent answered the prompt that its recap came with. Whatever becomes of it now, it was told. */
  async heard({ conversation, briefing }: Opened): Promise<void> {
    briefing.heard();
    conversation.owes = "nothing";
    // Where that fails it is told once more, which is no reason to fail what was done.
    await conversation.remember().catch(() => {});
  }

  /** The Host needs a Session no more for now. One that the agent can take up again is closed there, once it is quiet. */
  async leave({ sessionId }: EngineContext, conversation: Conversation): Promise<void> {
    if (!conversation.serving) return;
    const before = this.#kept.get(sessionId);
    if (before !== undefined && before !== conversation) void before.end();
    // At once, so that whoever opens it anew meanwhile finds it.
    this.#kept.set(sessionId, conversation);
    await conversation.quiet();
    const { close, load, resume } = conversation.hello;
    if (close && (load || resume) && this.#kept.get(sessionId) === conversation) {
      this.#kept.delete(sessionId);
      await conversation.end();
    }
    for (const [oldest, each] of this.#kept) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
      await each.end();
    }
  }

  #take(sessionId: string): Conversation | undefined {
    const kept = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    return kept;
  }

  async #begin(parts: Parts, binding: JsonObject): Promise<Conversation> {
    const { agent, context } = parts;
    const opened = await agent.open("session/new", {
      ...binding,
      ...metaOf(context),
    });
    const sessionId = textOf(opened.sessionId);
    if (sessionId === undefined || sessionId === "") {
      throw new AgentFailure("engine", "The agent opened a Session and did not say which");
    }
    const conversation = new Conversation({ ...parts, sessionId, opened });
    this.#parts.began(conversation.settings.list());
    return conversation;
  }

  /** Why, in a sentence, where the agent cannot go on with it. */
  async #restore(parts: Parts, sessionId: string, binding: JsonObject): Promise<Conversation | string> {
    const { agent, hello } = parts;
    if (!hello.resume && !hello.load) {
      return "It cannot go on with Sessions of an earlier process of its own.";
    }
    const conversation = new Conversation({ ...parts, sessionId });
    try {
      const method = hello.resume ? "session/resume" : "session/load";
      const opened = await agent.open(method, { ...binding, sessionId, ...metaOf(parts.context) });
      if (!hello.resume) await conversation.replayed();
      conversation.live(opened);
      return conversation;
    } catch (error) {
      agent.seats.leave(sessionId, conversation);
      if (!(error instanceof AgentFailure) || error.class !== "engine") throw error;
      // What may pass is tried again by the next prompt, for going on anew is for good.
      if (!isLost(error) && !this.#failed.has(sessionId)) {
        this.#failed.add(sessionId);
        throw error;
      }
      this.#failed.delete(sessionId);
      return error.message;
    }
  }

  /** What was said, for an agent that does not remember it. A transcript that cannot be read is none. */
  async #recap(context: EngineContext): Promise<Recap | undefined> {
    return recapOf(await context.history(RECAP_BYTES).catch(() => []));
  }

  /** Brings the settings of both sides together: what a person chose counts, and else what the agent says. */
  async #settle(conversation: Conversation, isNew: boolean, notices: Notice[]): Promise<void> {
    const { context, settings } = conversation;
    const defaults = this.#parts.defaults();
    const chosen = context.config().options.filter((option) =>
      !isNew || defaults.find((each) => each.id === option.id)?.value !== option.value
    );
    const preferred = isNew ? withPreferred(settings.list(), this.#parts.preferred) : [];
    const wanted = [...preferred.filter(({ id }) => !chosen.some((each) => each.id === id)), ...chosen];
    try {
      await conversation.set(wanted);
    } catch (error) {
      if (!(error instanceof AgentFailure) || error.class !== "engine") throw error;
      notices.push({ title: "The agent did not take a setting", text: error.message });
    }
    // An agent need not repeat its settings for a Session that it takes up.
    if (isNew || settings.list().length > 0) await context.configured(settings.list());
  }
}

/** The agent's Session before this opening, and whether its agent has still to hear what was said before it began. */
function knownOf(
  { restored }: EngineContext,
  before: Opened | undefined,
): { readonly sessionId: string; readonly recap: "heard" | "owed" } | undefined {
  const { sessionId, recap } = before === undefined ? recordOf(restored) : {
    sessionId: before.conversation.sessionId,
    recap: before.briefing.recap && "owed",
  };
  return typeof sessionId === "string"
    ? { sessionId, recap: recap === "owed" ? "owed" : "heard" }
    : undefined;
}

/** What a person is told of a Session that the agent lost. */
function lossOf(why: string, recap: Recap | undefined): Notice {
  if (recap === undefined) return { title: "The agent starts without memory of this Session", text: why };
  const entries = recap.told === 1 ? "the last entry" : `the last ${recap.told} entries`;
  return {
    title: "The agent lost this Session and was given a recap of it",
    text:
      `${why} It began anew and gets ${entries} of the conversation with your prompt: what you and it said, ` +
      "and which tools it used. It does not know their results, nor its own thoughts.",
  };
}

/** Whether an agent says that it does not have a Session. */
export function isLost({ data, message }: AgentFailure): boolean {
  return data?.code === -32002 || data?.code === -32602 ||
    /not found|no such|no previous|unknown session|invalid session/i.test(message);
}

/** What came with the Host's Session, as the agent takes it. */
function metaOf({ meta }: EngineContext): JsonObject {
  return meta === undefined ? {} : { _meta: meta };
}

type Parts = Pick<Conversation, "agent" | "hello" | "bound" | "context" | "used">;

/** Folders and MCP servers as the agent takes them. */
function bindingOf(
  { cwd, roots, mcpServers }: EngineContext,
  { mcp, additionalDirectories }: Ready["hello"],
  notices: Notice[],
): JsonObject {
  const taken: JsonObject[] = [];
  for (const server of mcpServers) {
    const type: Json | undefined = server.type;
    if ((type === "http" && !mcp.http) || (type === "sse" && !mcp.sse)) {
      const name = isRecord(server) ? textOf(server.name) ?? "unnamed" : "unnamed";
      notices.push({
        title: `The agent takes no MCP servers over ${type}`,
        text: `It works without "${name}".`,
      });
    } else taken.push(server);
  }
  if (roots.length > 0 && !additionalDirectories) {
    notices.push({
      title: "The agent takes no additional folders",
      text: "It knows the working directory only.",
    });
  }
  return {
    cwd,
    mcpServers: taken,
    ...(roots.length > 0 && additionalDirectories && { additionalDirectories: [...roots] }),
  };
}
