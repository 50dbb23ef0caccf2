import type { ListSessionsResponse, PromptResponse } from "@agentclientprotocol/sdk";
import { RequestError } from "@agentclientprotocol/sdk";
import type * as z from "zod";
import { ClientGone } from "../session/ports.ts";
import type { Client } from "./client.ts";
import type { Clock } from "../model/clock.ts";
import type { Config } from "../model/config.ts";
import type { ConnectionSessions } from "./sessions.ts";
import type { SessionPlace } from "../session/sessions.ts";
import { boundedMeta } from "./meta.ts";
import { draftOf } from "./content.ts";
import type { EditorExtensions } from "./extensions.ts";
import { created, listed, optionsOf, settingsOf } from "./responses.ts";
import type { EngineProfile, SessionInfo } from "../host/contract.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../model/log.ts";
import type { Offer } from "./negotiation.ts";
import * as params from "./params.ts";
import { invalidParams, wireError } from "./errors.ts";

/** What the methods work with. */
export interface MethodParts {
  readonly sessions: ConnectionSessions;
  readonly client: Client;
  readonly profile: EngineProfile;
  /** What goes beyond Sessions and Turns; absent where the Host passes nothing on. */
  readonly extensions?: EditorExtensions;
  /** Methods of what is not offered are absent. */
  readonly offered: Offer;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls `follow` when the answer with this result is on its way. */
  after(result: object, follow: () => void): void;
}

interface Method {
  readonly offered: boolean;
  run(raw: unknown, signal: AbortSignal): Promise<object>;
}

function method<T>(
  schema: z.ZodType<T>,
  handle: (params: T, signal: AbortSignal) => Promise<object>,
  offered: boolean = true,
): Method {
  // Reading the parameters and the first step of the handler happen in the call: Sessions see requests in their order.
  return { offered, run: async (raw, signal) => await handle(params.readParams(schema, raw), signal) };
}

/** UTF-16 units of an unknown method's name that an error repeats. */
const NAME_LENGTH = 100;

/**
 * Milliseconds between a last update and its answer, and between an answer and a first update. Some Clients lose an update that
 * they read together with the answer; a bare turn of our own event loop is over before they woke up.
 */
const APART_MS = 2;

/** Everything that a Client may ask after the handshake: the method table. */
export class Methods {
  #parts: MethodParts;
  #table: ReadonlyMap<string, Method>;
  /** The option that a Session shows as modes, where it is not called `mode`. */
  #modeOptions: Map<string, string> = new Map();

  /** Reads nothing yet. */
  constructor(parts: MethodParts) {
    this.#parts = parts;
    const { offered, sessions } = parts;
    this.#table = new Map<string, Method>([
      [
        "session/new",
        method(params.newSession, async (place) => {
          const info = await sessions.create(workplace(place, parts.profile));
          return this.#opened(info, created(info, parts.client.abilities));
        }),
      ],
      [
        "session/load",
        method(params.openSession, async (place) => {
          const info = await sessions.load(place.sessionId, workplace(place, parts.profile));
          await this.#apart();
          return this.#opened(info, settingsOf(info.config, parts.client.abilities));
        }, offered.load),
      ],
      [
        "session/resume",
        method(params.openSession, async (place) => {
          const info = await sessions.resume(place.sessionId, workplace(place, parts.profile));
          return this.#opened(info, settingsOf(info.config, parts.client.abilities));
        }, offered.resume),
      ],
      ["session/list", method(params.listSessions, (wanted) => this.#list(wanted), offered.list)],
      ["session/prompt", method(params.prompt, (asked, signal) => this.#prompt(asked, signal))],
      [
        "session/set_mode",
        method(params.setMode, async ({ sessionId, modeId, _meta }) => {
          const change = { id: this.#modeOptions.get(sessionId) ?? "mode", value: modeId };
          this.#noteModes(sessionId, await sessions.configure(sessionId, change, boundedMeta(_meta)));
          return {};
        }),
      ],
      ["session/set_config_option", method(params.setConfigOption, (change) => this.#configure(change))],
      [
        "session/close",
        method(params.oneSession, async ({ sessionId }) => {
          await sessions.close(sessionId).finally(() => this.#modeOptions.delete(sessionId));
          return {};
        }, offered.close),
      ],
      [
        "session/delete",
        method(params.oneSession, async ({ sessionId }) => {
          await sessions.remove(sessionId).finally(() => this.#modeOptions.delete(sessionId));
          return {};
        }, offered.remove),
      ],
    ]);
  }

  /** Answers a request; rejects with the error that goes onto the wire and with nothing else. */
  async request(name: string, raw: unknown, signal: AbortSignal): Promise<unknown> {
    const { extensions } = this.#parts;
    const found = this.#table.get(name);
    const passed = extensions?.takes(name) === true;
    if (found?.offered !== true && !passed) throw unknownMethod(name);
    try {
      return passed ? await extensions.request(name, raw, signal) : await found!.run(raw, signal);
    } catch (error) {
      throw wireError(error, name, sessionIdOf(raw), this.#parts.log);
    }
  }

  /** Takes a notification. One that is unknown or broken is dropped, as the protocol wants it. */
  notify(name: string, raw: unknown): void {
    if (name.startsWith("_")) return this.#parts.extensions?.notify(name, raw);
    if (name !== "session/cancel") return;
    const read = params.oneSession.safeParse(raw);
    if (read.success) this.#parts.sessions.cancel(read.data.sessionId);
    else this.#parts.log.warn('A "session/cancel" named no Session');
  }

  async #prompt(asked: params.PromptParams, signal: AbortSignal): Promise<PromptResponse> {
    const { profile, sessions } = this.#parts;
    const draft = draftOf(asked, profile.prompt);
    try {
      const { stopReason, meta } = await sessions.prompt(asked.sessionId, draft, signal);
      return { stopReason, ...(meta !== undefined && { _meta: { ...meta } }) };
    } finally {
      await this.#apart();
    }
  }

  async #list(wanted: params.ListParams): Promise<ListSessionsResponse> {
    // A page that is too long is asked for again, shorter: only the Host can make the cursor that goes on from there.
    for (let limit = LIMITS.listPage;; limit = Math.floor(limit / 2)) {
      const page = listed(await this.#parts.sessions.list({ ...wanted, limit }));
      if (page.sessions.length <= 1 || limit <= 1 || bytesOf(page) <= LIST_BYTES) return page;
    }
  }

  async #configure(change: params.ConfigParams): Promise<{ configOptions: object[] }> {
    const { client, sessions } = this.#parts;
    const { sessionId, configId: id, value, _meta } = change;
    if (typeof value === "boolean" && !client.abilities.booleanOptions) {
      throw invalidParams("value", 'a string: the editor did not offer "session.configOptions.boolean"');
    }
    const config = await sessions.configure(sessionId, { id, value }, boundedMeta(_meta));
    this.#noteModes(sessionId, config);
    return { configOptions: optionsOf(config, client.abilities) };
  }

  /** The Session's first updates follow the answer that names it. */
  #opened(info: SessionInfo, result: object): object {
    const { after, log, sessions } = this.#parts;
    this.#noteModes(info.sessionId, info.config);
    after(result, () => {
      this.#apart().then(() => sessions.announce(info.sessionId)).catch((error) => {
        if (!(error instanceof ClientGone)) log.warn("A Session could not be announced");
      });
    });
    return result;
  }

  /** What was sent is with the Client before what is sent next leaves, so that it does not find both in one read. */
  async #apart(): Promise<void> {
    const { client, clock } = this.#parts;
    await client.flushed();
    await clock.sleep(APART_MS);
  }

  #noteModes(sessionId: string, config: Config): void {
    const option = config.options.find((each) => each.category === "mode");
    if (option === undefined || option.id === "mode") this.#modeOptions.delete(sessionId);
    else this.#modeOptions.set(sessionId, option.id);
  }
}

/** Bytes of a list's result; the envelope around it takes the rest of the line. */
const LIST_BYTES = LIMITS.outputLineBytes - 1024;

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** Throws -32602 for an MCP server of a kind that was not advertised. */
function workplace(
  { cwd, additionalDirectories, mcpServers, _meta }: params.PlaceParams,
  profile: EngineProfile,
): SessionPlace {
  mcpServers.forEach(({ type }, index) => {
    if ((type !== "http" && type !== "sse") || profile.mcp[type]) return;
    throw invalidParams(
      `mcpServers[${index}].type`,
      `something else: this agent takes no MCP servers over ${type}, as its capabilities say`,
    );
  });
  const meta = boundedMeta(_meta);
  return { cwd, roots: additionalDirectories, mcpServers, ...(meta !== undefined && { meta }) };
}

function unknownMethod(name: string): RequestError {
  const short = name.slice(0, NAME_LENGTH);
  return new RequestError(-32601, `Method not found: ${short}`, { method: short });
}

function sessionIdOf(raw: unknown): string | undefined {
  const sessionId = typeof raw === "object" && raw !== null
    ? (raw as Record<string, unknown>).sessionId
    : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}
