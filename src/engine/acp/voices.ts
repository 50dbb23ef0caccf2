import type { Channel } from "../../model/message.ts";
import type { EngineSink } from "../contract.ts";
import type { Faults } from "./faults.ts";

/** Messages of a Turn that stay open for more of them; the one that was silent for longest ends first. */
const OPEN = 8;

interface Voice {
  readonly id: string;
  readonly channel: Channel;
}

/** What all Turns of a Session share: ids that were used. */
export class UsedIds {
  readonly #ids = new Set<string>();

  /** Takes an id if it is free. Forgets the oldest of very many. */
  take(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
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

  /** Takes the next chunk. */
  say(messageId: string | undefined, channel: Channel, text: string): Promise<void> {
    if (messageId === undefined) {
      if (this.#nameless?.channel === channel) return this.#sink.message(this.#nameless.id, channel, text);
      return this.#begin(channel, text);
    }
    const voice = this.#open.get(messageId);
    if (voice?.channel === channel) {
      if (this.#open.size > 1) this.#touch(messageId, voice);
      return this.#sink.message(voice.id, channel, text);
    }
    if (voice !== undefined) this.#faults.count("channel");
    return this.#name(messageId, channel, text);
  }

  /** Something else came: the next chunk without an id is another message. */
  async pause(): Promise<void> {
    const ended = this.#nameless;
    this.#nameless = undefined;
    if (ended !== undefined) await this.#sink.messageComplete(ended.id);
  }

  async #begin(channel: Channel, text: string): Promise<void> {
    await this.pause();
    this.#nameless = { id: this.#next(), channel };
    await this.#sink.message(this.#nameless.id, channel, text);
  }

  async #name(messageId: string, channel: Channel, text: string): Promise<void> {
    await this.pause();
    const usable = /^[\x21-\x7e]{1,128}$/.test(messageId) && this.#used.take(messageId);
    const voice = { id: usable ? messageId : this.#next(), channel };
    this.#touch(messageId, voice);
    await this.#sink.message(voice.id, channel, text);
    for (const [oldest, { id }] of this.#open) {
      if (this.#open.size <= OPEN) break;
      this.#open.delete(oldest);
      await this.#sink.messageComplete(id);
    }
  }

  #touch(messageId: string, voice: Voice): void {
    this.#open.delete(messageId);
    this.#open.set(messageId, voice);
  }

  #next(): string {
    return `${this.#prefix}-m${++this.#count}`;
  }
}
