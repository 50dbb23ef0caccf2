import type { AgentTurn } from "./turn.ts";
import { cut, numberOf, recordOf, textOf } from "./shape.ts";
import type { EnginePast, PastTurn } from "../archive.ts";
import { withoutRecap } from "./recap.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { PromptPart } from "../../model/prompt.ts";

/** Updates that wait for the Host, above which nothing more is read of the agent. */
const WAITING = 512;
/** Parts of one thing that the user said, above which it goes on as another one. */
const PARTS = 1024;
/** UTF-16 units of a name that stands for something that cannot be kept. */
const NAME = 200;

/**
 * What an agent replays of a Session before it was the Host's: its updates in their order become Turns, each from what the user said to the
 * next time that he spoke.
 */
export class Past {
  readonly #past: EnginePast;
  readonly #work: (turn: PastTurn) => AgentTurn;
  #queue: JsonObject[] = [];
  #pumping: Promise<void> | undefined;
  /** What the user said, until the Turn that it begins is told. */
  #words: PromptPart[] = [];
  #messageId: string | undefined;
  #turn: AgentTurn | undefined;

  /** `work` makes what takes the updates of one Turn. */
  constructor(past: EnginePast, work: (turn: PastTurn) => AgentTurn) {
    this.#past = past;
    this.#work = work;
  }

  /** Takes an update that the agent replays. */
  push(update: JsonObject): void {
    this.#queue.push(update);
    if (this.#pumping !== undefined) return;
    this.#pumping = this.#pump();
    // Whoever waits for the end is told; until then nothing more is taken.
    this.#pumping.catch(() => {});
  }

  /** Undefined while the Host keeps up. */
  room(): Promise<void> | undefined {
    return this.#queue.length < WAITING ? undefined : this.#pumping;
  }

  /** Resolves when the Host has all of it. Rejects where the Host could not take it. */
  async end(): Promise<void> {
    await this.#pumping;
    if (this.#words.length > 0) await this.#begin();
    this.#turn?.close();
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      for (const update of batch) {
        if (update.sessionUpdate === "user_message_chunk") await this.#hear(update);
        else await this.#tell(update);
      }
    }
    this.#pumping = undefined;
  }

  /** Words of the user. They go on with those before, unless the agent said something since, or calls them another message. */
  async #hear({ content, messageId }: JsonObject): Promise<void> {
    const id = textOf(messageId);
    if (this.#words.length >= PARTS || (this.#words.length > 0 && id !== this.#messageId)) {
      await this.#begin();
    }
    this.#messageId = id;
    const part = partOf(content);
    if (part !== undefined) this.#words.push(part);
  }

  async #tell(update: JsonObject): Promise<void> {
    const turn = this.#turn === undefined || this.#words.length > 0 ? await this.#begin() : this.#turn;
    turn.push(update);
    await turn.drained();
  }

  async #begin(): Promise<AgentTurn> {
    this.#turn?.close();
    const parts = this.#words;
    this.#words = [];
    const turn = await this.#past.turn(parts.length === 0 ? undefined : { parts });
    return this.#turn = this.#work(turn);
  }
}

/** A block of a prompt, its bytes by name only. Undefined for what no person said. */
function partOf(content: Json | undefined): PromptPart | undefined {
  const { type, text, uri, name, title, description, mimeType, data, resource } = recordOf(content);
  switch (type) {
    case "text": {
      const said = typeof text === "string" ? withoutRecap(text) : "";
      return said === "" ? undefined : { kind: "text", text: said };
    }
    case "resource_link":
      if (typeof uri !== "string") return undefined;
      return {
        kind: "link",
        uri,
        name: textOf(name) ?? uri,
        ...(typeof mimeType === "string" && { mimeType }),
        ...(typeof title === "string" && { title }),
        ...(typeof description === "string" && { description }),
      };
    case "resource": {
      const inner = recordOf(resource);
      if (typeof inner.uri !== "string") return undefined;
      return {
        kind: "link",
        uri: inner.uri,
        name: cut(inner.uri.split("/").at(-1) || inner.uri, NAME),
        ...(typeof inner.mimeType === "string" && { mimeType: inner.mimeType }),
      };
    }
    case "image":
    case "audio": {
      const size = typeof data === "string"
        ? Math.floor(data.length * 3 / 4)
        : numberOf(recordOf(content).size);
      return {
        kind: "text",
        text: `[${type}, ${cut(textOf(mimeType) ?? "unnamed", NAME)}, ${size ?? 0} bytes]`,
      };
    }
    default:
      return undefined;
  }
}
