import type { EngineSink } from "../contract.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Recap } from "./recap.ts";

/** Something that a person should know about how a Session began. */
export interface Notice {
  readonly title: string;
  readonly text: string;
}

/** What is still to be said at the beginning of an agent's Session: to the person, and to the agent. */
export class Briefing {
  #notices: readonly Notice[];
  #recap: Recap | undefined;

  /** Nothing of it was said yet. */
  constructor(notices: readonly Notice[], recap: Recap | undefined) {
    this.#notices = notices;
    this.#recap = recap;
  }

  /** Tells the person, once. */
  async tell(sink: EngineSink): Promise<void> {
    const notices = this.#notices;
    this.#notices = [];
    for (const { title, text } of notices) await sink.notice("warning", title, text);
  }

  /** What the agent has to hear before the user's words; undefined where it heard it, or need not. */
  get recap(): JsonObject | undefined {
    return this.#recap === undefined ? undefined : { type: "text", text: this.#recap.text };
  }

  /** The agent heard it. */
  heard(): void {
    this.#recap = undefined;
  }
}
