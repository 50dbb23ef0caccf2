import type { Block } from "../../model/block.ts";
import { type Channel, partId } from "../../model/message.ts";
import type { EngineSink } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { Json, Meta } from "../../model/json.ts";

/** Messages of a Turn that stay open for more of them; the one that was silent for longest ends first. */
const OPEN = 8;

/** One message. What is no plain text, and text with other metadata, is a part of its own. */
interface Voice {
  readonly id: string;
  readonly channel: Channel;
  /** The part that is or was spoken; -1 before the first. */
  part: number;
  /** The metadata of a part of text that goes on, encoded; undefined where none does. */
  speaking: string | undefined;
}

/** UTF-16 units of the longest id that a counter makes; longer ones are random, and no agent makes them twice. */
const COUNTED = 24;
/** Ids that are kept for the next process, which keeps what is kept within its bound. */
const KEPT = 1000;

/** What all Turns of a Session share, also in later processes: ids that were used. */
export class UsedIds {
  readonly #ids: Set<string>;
  #state: "kept" | "changed" = "kept";

  /** Begins with what {@linkcode counted} gave in an earlier process. */
  constructor(before: Json | undefined = undefined) {
    this.#ids = new Set(Array.isArray(before) ? before.map(String) : []);
  }

  /** Whether ids came that {@linkcode counted} has not given yet. */
  get changed(): boolean {
    return this.#state === "changed";
  }

  /** The latest of those that an agent which counts anew might use again. */
  counted(): readonly string[] {
    this.#state = "kept";
    return [...this.#ids].filter(({ length }) => length <= COUNTED).slice(-KEPT);
  }

  /** Takes an id if it is free. Forgets the oldest of very many. */
  take(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (id.length <= COUNTED) this.#state = "changed";
    if (this.#ids.size > 4096) {
      for (const oldest of this.#ids) {
        this.#ids.delete(oldest);
        break;
      }
    }
    return true;
  }
}

/**
 * The messages of one Turn. An agent's own ids are kept, where they are usable and were not used before; chunks without an id belong
 * together as long as nothing comes between them.
 */
export class Voices {
  readonly #sink: EngineSink;
  readonly #faults: Faults;
  readonly #used: UsedIds;
  readonly #prefix: string;
  /** By the agent's id, longest silent first. */
  readonly #open = new Map<string, Voice>();
  #nameless: Voice | undefined;
  #count = 0;

  /** `prefix` makes ids of our own unique in the Session. */
  constructor(parts: { sink: EngineSink; faults: Faults; used: UsedIds; prefix: string }) {
    this.#sink = parts.sink;
    this.#faults = parts.faults;
    this.#used = parts.used;
    this.#prefix = parts.prefix;
  }

  /** Takes the next chunk of text. */
  async say(messageId: string | undefined, channel: Channel, text: string, meta?: Meta): Promise<void> {
    const voice = this.#present(messageId, channel) ?? await this.#begin(messageId, channel);
    const about = meta === undefined ? "" : JSON.stringify(meta);
    if (voice.speaking !== about) {
      if (voice.speaking !== undefined) await this.#end(voice);
      voice.part++;
      voice.speaking = about;
    }
    await this.#sink.message(partId(voice.id, voice.part), channel, text, meta);
  }

  /** Takes a chunk that is not just text. */
  async show(messageId: string | undefined, channel: Channel, block: Block, meta?: Meta): Promise<void> {
    const voice = this.#present(messageId, channel) ?? await this.#begin(messageId, channel);
    await this.#end(voice);
    voice.part++;
    await this.#sink.content(partId(voice.id, voice.part), channel, block, meta);
  }

  /** Something else came: the next chunk without an id is another message. */
  async pause(): Promise<void> {
    const ended = this.#nameless;
    this.#nameless = undefined;
    if (ended !== undefined) await this.#end(ended);
  }

  /** The voice that goes on. */
  #present(messageId: string | undefined, channel: Channel): Voice | undefined {
    const voice = messageId === undefined ? this.#nameless : this.#open.get(messageId);
    if (voice === undefined) return undefined;
    if (voice.channel !== channel) {
      if (messageId !== undefined) this.#faults.count("channel");
      return undefined;
    }
    if (messageId !== undefined && this.#open.size > 1) this.#touch(messageId, voice);
    return voice;
  }

  async #begin(messageId: string | undefined, channel: Channel): Promise<Voice> {
    await this.pause();
    if (messageId === undefined) return this.#nameless = this.#voice(this.#next(), channel);
    const usable = /^[\x21-\x7e]{1,128}$/.test(messageId) && this.#used.take(messageId);
    const before = this.#open.get(messageId);
    if (before !== undefined) await this.#end(before);
    const voice = this.#voice(usable ? messageId : this.#next(), channel);
    this.#touch(messageId, voice);
    for (const [oldest, each] of this.#open) {
      if (this.#open.size <= OPEN) break;
      this.#open.delete(oldest);
      await this.#end(each);
    }
    return voice;
  }

  #voice(id: string, channel: Channel): Voice {
    return { id, channel, part: -1, speaking: undefined };
  }

  /** Ends the part that goes on. */
  async #end(voice: Voice): Promise<void> {
    if (voice.speaking === undefined) return;
    voice.speaking = undefined;
    await this.#sink.messageComplete(partId(voice.id, voice.part));
  }

  #touch(messageId: string, voice: Voice): void {
    this.#open.delete(messageId);
    this.#open.set(messageId, voice);
  }

  #next(): string {
    return `${this.#prefix}-m${++this.#count}`;
  }
}
