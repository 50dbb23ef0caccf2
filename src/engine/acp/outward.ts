import type { ExtensionMessage } from "../../model/extension.ts";
import type { ExtensionOutlet } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { reachesEditor } from "./extensions.ts";
import { refused } from "./link.ts";

/** What an {@linkcode Outward} works with. */
export interface OutwardParts {
  /** Nowhere where absent. */
  readonly outlet: ExtensionOutlet | undefined;
  /** The Host's id of one of the agent's Sessions; undefined for one that it was not given. */
  readonly hostId: (sessionId: string) => string | undefined;
  /** Whether a Session is being opened whose id may not be known yet. */
  readonly opening: () => boolean;
  readonly faults: Faults;
}

/** Notifications that are kept until it is known which Sessions they are about. */
const EARLY = 256;

/** What an agent says to the editor beyond Sessions and Turns. */
export class Outward {
  readonly #parts: OutwardParts;
  #early: (readonly [method: string, params: JsonObject])[] = [];

  /** Says nothing by itself. */
  constructor(parts: OutwardParts) {
    this.#parts = parts;
  }

  /** Whether a request of the agent goes this way. */
  takes(method: string): boolean {
    return this.#parts.outlet !== undefined && reachesEditor(method);
  }

  /** Asks the editor. What it throws becomes the error. */
  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<Json> {
    const { faults, outlet } = this.#parts;
    const named = this.#named(params);
    if (named === undefined || outlet === undefined) {
      faults.count("foreign");
      throw refused(-32002, "There is no such Session");
    }
    const answer = await outlet.call({ method, ...named }, signal);
    if (answer.kind === "result") return answer.result;
    throw refused(answer.code, answer.message, answer.data);
  }

  /** Tells the editor. */
  notify(method: string, params: JsonObject): void {
    const { faults, opening, outlet } = this.#parts;
    if (outlet === undefined || !reachesEditor(method)) return faults.count("unheard");
    const named = this.#named(params);
    if (named !== undefined) return outlet.notify({ method, ...named });
    if (!opening() || this.#early.length >= EARLY) return faults.count("foreign");
    this.#early.push([method, params]);
  }

  /** No Session is being opened any more: what came early is told, or is about none. */
  opened(): void {
    const early = this.#early;
    this.#early = [];
    for (const [method, params] of early) this.notify(method, params);
  }

  /** Params with the Host's id of the Session instead of the agent's; undefined where the agent was given no such Session. */
  #named(params: JsonObject): Pick<ExtensionMessage, "sessionId" | "params"> | undefined {
    if (typeof params.sessionId !== "string") return { params };
    const sessionId = this.#parts.hostId(params.sessionId);
    return sessionId === undefined ? undefined : { sessionId, params: { ...params, sessionId } };
  }
}
