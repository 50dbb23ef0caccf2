/** A `session/update` that fits the schema. */
export interface Update {
  readonly sessionUpdate: string;
  readonly [key: string]: unknown;
}

interface Card {
  status: string;
  /** The prompt during which it was announced; undefined in a replay. */
  readonly prompt: string | undefined;
}

const ENDS = ["completed", "failed"];
const CHUNKS = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"];
/** Updates that belong to a Run and may only be shown while one is shown. */
const OF_A_RUN = [...CHUNKS, "tool_call", "tool_call_update", "plan"];

/** The order rules of one Session on one connection. */
export class SessionRules {
  /** A Run that another connection or an Engine started may be shown. */
  live = false;
  #id: string;
  #state: "unnamed" | "loading" | "open" | "closed" = "unnamed";
  #prompts: string[] = [];
  #messages = new Map<string, { readonly channel: string; readonly prompt: string | undefined }>();
  #cards = new Map<string, Card>();
  /** Open dialogs and the card that each belongs to. */
  #dialogs = new Map<string, string | undefined>();
  #ended = new Set<string>();

  constructor(id: string) {
    this.#id = id;
  }

  /** A response named the Session: from now on it may be spoken of. */
  named(): void {
    this.#state = "open";
  }

  /** The Client asked for a replay: everything is shown anew. */
  loading(): void {
    this.#state = "loading";
    this.#messages.clear();
    this.#cards.clear();
  }

  /** The replay is over. */
  loaded(done: boolean): void {
    this.#state = done ? "open" : "closed";
  }

  /** The Session was closed or deleted. */
  closed(): void {
    this.#state = "closed";
    this.live = false;
  }

  /** A prompt was sent. */
  prompt(key: string): void {
    this.#prompts.push(key);
  }

  /** A prompt was answered. */
  prompted(key: string): readonly string[] {
    const faults: string[] = [];
    this.#prompts = this.#prompts.filter((open) => open !== key);
    this.#ended.add(key);
    for (const [id, card] of this.#cards) {
      if (card.prompt === key && !ENDS.includes(card.status)) {
        faults.push(`tool call "${id}" is still ${card.status} when its prompt is answered`);
      }
    }
    if (!this.live && this.#prompts.length === 0) {
      for (const dialog of this.#dialogs.keys()) {
        faults.push(`dialog ${dialog} is still open when its prompt is answered`);
      }
    }
    return faults;
  }

  /** The agent opened a dialog, perhaps on a tool's card. */
  dialog(key: string, toolCallId: string | undefined): readonly string[] {
    this.#dialogs.set(key, toolCallId);
    const faults = this.#shown("a dialog");
    if (toolCallId !== undefined && !this.#cards.has(toolCallId)) {
      faults.push(`the dialog's tool call "${toolCallId}" was not announced before`);
    }
    return faults;
  }

  /** A dialog was answered or withdrawn. */
  dialogClosed(key: string): void {
    this.#dialogs.delete(key);
  }

  /** Judges one update. */
  update(update: Update): readonly string[] {
    const kind = update.sessionUpdate;
    const faults = OF_A_RUN.includes(kind) ? this.#shown(kind) : this.#spokenOf(kind);
    if (CHUNKS.includes(kind)) faults.push(...this.#chunk(kind, update));
    if (kind === "tool_call" || kind === "tool_call_update") faults.push(...this.#card(kind, update));
    if (kind === "usage_update" && (update.used as number) > (update.size as number)) {
      faults.push(`usage of ${update.used} is above the window of ${update.size}`);
    }
    if (kind === "available_commands_update") {
      for (const { name } of update.availableCommands as { name: string }[]) {
        if (name === "" || name.startsWith("/")) faults.push(`"${name}" is no name of a command`);
      }
    }
    return faults;
  }

  #spokenOf(what: string): string[] {
    return this.#state === "open" || this.#state === "loading"
      ? []
      : [`${what} about Session "${this.#id}", which is ${this.#state}`];
  }

  #shown(what: string): string[] {
    const faults = this.#spokenOf(what);
    if (faults.length === 0 && this.#prompts.length === 0 && this.#state !== "loading" && !this.live) {
      faults.push(`${what} about Session "${this.#id}" while no prompt of it runs`);
    }
    return faults;
  }

  #chunk(kind: string, update: Update): string[] {
    const faults: string[] = [];
    const content = update.content as { type: string; text?: string };
    if (content.type === "text" && content.text === "") faults.push(`an empty ${kind}`);
    if (content.text !== undefined && !content.text.isWellFormed()) {
      faults.push(`a ${kind} with half a character`);
    }
    const id = update.messageId;
    if (typeof id !== "string") return [...faults, `a ${kind} without a message id`];
    const message = this.#messages.get(id);
    if (message === undefined) {
      this.#messages.set(id, { channel: kind, prompt: this.#running() });
    } else {
      if (message.channel !== kind) faults.push(`message "${id}" turns from ${message.channel} to ${kind}`);
      faults.push(...this.#late(`message "${id}"`, message.prompt));
    }
    return faults;
  }

  #card(kind: string, update: Update): string[] {
    const faults: string[] = [];
    const id = String(update.toolCallId);
    const card = this.#cards.get(id);
    if (kind === "tool_call") {
      if (card !== undefined) faults.push(`tool call "${id}" is announced a second time`);
      this.#cards.set(id, { status: String(update.status ?? "pending"), prompt: this.#running() });
    } else if (card === undefined) {
      faults.push(`tool call "${id}" is updated before it was announced`);
    } else {
      faults.push(...this.#late(`tool call "${id}"`, card.prompt));
      const status = update.status ?? card.status;
      if (ENDS.includes(card.status) && status !== card.status) {
        faults.push(`tool call "${id}" goes from ${card.status} to ${status}`);
      }
      card.status = String(status);
      if ([...this.#dialogs.values()].includes(id)) {
        faults.push(`tool call "${id}" is touched while its dialog is open`);
      }
    }
    for (const path of pathsOf(update)) {
      if (!isAbsolute(path)) faults.push(`tool call "${id}" names "${path}", which is not absolute`);
    }
    return faults;
  }

  #running(): string | undefined {
    return this.#state === "loading" ? undefined : this.#prompts[0];
  }

  #late(what: string, prompt: string | undefined): string[] {
    return prompt !== undefined && this.#ended.has(prompt)
      ? [`${what} goes on after its prompt was answered`]
      : [];
  }
}

function pathsOf(update: Update): readonly string[] {
  const located = (update.locations ?? []) as { path: string }[];
  const content = (update.content ?? []) as { type: string; path?: string }[];
  const diffs = content.filter((part) => part.type === "diff");
  return [...located, ...diffs].map((part) => String(part.path));
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\");
}
