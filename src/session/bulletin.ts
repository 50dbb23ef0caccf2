import type { Config } from "../model/config.ts";
import type { Frame, Snapshot } from "../model/frame.ts";
import { sessionUpdates } from "../projection/mod.ts";
import type { ClientPort } from "./ports.ts";

/** What is said about a Session itself rather than a Turn: settings, commands, title, usage, notices. Each value is shown once. */
export class Bulletin {
  readonly #client: ClientPort;
  readonly #sessionId: string;
  readonly #shown = new Map<Frame["type"], string>();
  #config: Config | undefined;
  /** Frames that wait until the response that names the Session is on its way. */
  #held: Frame[] | undefined;
  #state: "open" | "closed" = "open";

  /** Nothing is known or shown yet. */
  constructor(client: ClientPort, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** Settings as last heard of. */
  get config(): Config | undefined {
    return this.#config;
  }

  /** Says that the Client learns this from a response. */
  known(frame: Frame): void {
    if (frame.type === "config") this.#config = frame.config;
    this.#shown.set(frame.type, sessionUpdates(frame, this.#client.abilities).join("\n"));
  }

  /** The response became an error: the Client learned nothing. */
  unknown(type: Frame["type"]): void {
    this.#shown.delete(type);
  }

  /** Shows it, unless it is what was shown last. An older configuration than the present one is ignored. */
  show(frame: Frame): void {
    if (frame.type === "config") {
      if (this.#config !== undefined && frame.config.revision < this.#config.revision) return;
      this.#config = frame.config;
    }
    if (this.#state === "closed") return;
    if (this.#held !== undefined) {
      this.#held.push(frame);
      return;
    }
    const updates = sessionUpdates(frame, this.#client.abilities);
    if (frame.type !== "notice" && frame.type !== "compaction") {
      const whole = updates.join("\n");
      if (this.#shown.get(frame.type) === whole) return;
      this.#shown.set(frame.type, whole);
    }
    for (const update of updates) this.#client.update(this.#sessionId, update);
  }

  /** Shows what a new Subscription knows. */
  showAll(snapshot: Snapshot): void {
    const { config, commands, title, metas = {} } = snapshot;
    this.show({ type: "config", config, meta: metas.options, modeMeta: metas.mode });
    this.show({ type: "commands", commands, meta: metas.commands });
    if (title !== undefined) this.show({ type: "title", title, meta: metas.title });
    if (snapshot.usage !== undefined) this.show({ type: "usage", usage: snapshot.usage });
  }

  /** Says nothing more: the Session is closed for the Client. */
  close(): void {
    this.#state = "closed";
    this.#held = undefined;
  }

  /** Holds everything back until {@linkcode Bulletin.release}. */
  hold(): void {
    this.#held ??= [];
  }

  /** Shows what was held back, in order. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const frame of held ?? []) this.show(frame);
  }
}
