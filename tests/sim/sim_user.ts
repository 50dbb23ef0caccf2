import type { SessionInfo } from "../../src/host/contract.ts";
import type { Config } from "../../src/model/config.ts";
import type { Draft, DraftPart } from "../../src/session/draft.ts";
import type { Sessions } from "../../src/session/mod.ts";
import type { Random } from "./random.ts";
import type { Domain } from "./sim_clock.ts";
import type { SimClient } from "./sim_client.ts";
import type { Ending, Tape, Wish } from "./tape.ts";

/** What a user asks a connection for: {@linkcode Sessions} or something that stands in front of it. */
export type UserSessions = Pick<
  Sessions,
  | "create"
  | "list"
  | "load"
  | "resume"
  | "remove"
  | "prompt"
  | "cancel"
  | "configure"
  | "close"
  | "announce"
  | "shutdown"
>;

/** How lively a user is. */
export interface UserHabits {
  readonly actions: number;
  /** Weight of each deed. */
  readonly weights: { readonly [deed in Deed]: number };
}

/** What a user does. */
export type Deed =
  | "create"
  | "prompt"
  | "cancel"
  | "withdraw"
  | "configure"
  | "close"
  | "load"
  | "resume"
  | "list"
  | "remove"
  | "trespass"
  | "stall"
  | "leave";

/** What a {@linkcode SimUser} works with. */
export interface UserParts {
  readonly by: string;
  readonly sessions: UserSessions;
  readonly client: SimClient;
  readonly clock: Domain;
  readonly random: Random;
  readonly tape: Tape;
  readonly habits: UserHabits;
  /** Sessions that any user ever created. */
  readonly known: string[];
}

interface Asked {
  readonly wish: Wish;
  readonly sessionId: string;
  readonly stop: AbortController;
}

const PLACE = { cwd: "/w", roots: [], mcpServers: [] };

/** A person with an editor: does things at any moment, whether they make sense or not. */
export class SimUser {
  /** Sessions that the editor has open, by what it was answered. */
  readonly owned: Set<string> = new Set();
  readonly #parts: UserParts;
  readonly #asked = new Map<number, Asked>();
  #prompts = 0;
  #gone = false;

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  /** Requests without an answer. */
  get waiting(): string[] {
    return [...this.#asked].map(([id, { wish, sessionId }]) => `${wish} ${id} of ${sessionId}`);
  }

  /** Whether the connection is over. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Does all that it has in mind. */
  async live(): Promise<void> {
    const { random, clock, habits } = this.#parts;
    const weights = Object.entries(habits.weights).map(([deed, weight]) => [weight, deed as Deed] as const);
    for (let left = habits.actions; left > 0 && !this.#gone; left--) {
      await clock.sleep(random.pause());
      const deed = this.owned.size === 0 && random.chance(0.7)
        ? random.pick<Deed>(this.#parts.known.length === 0 ? ["create"] : ["create", "load", "resume"])
        : random.weighted(weights);
      await this.#do(deed);
    }
  }

  /** Closes every Session that it has open. */
  closeAll(): void {
    for (const sessionId of this.owned) this.#close(sessionId);
  }

  /** Cancels whatever runs. */
  cancelAll(): void {
    for (const sessionId of this.owned) this.#cancel(sessionId);
  }

  /** Ends the connection. */
  async shutdown(): Promise<void> {
    if (this.#gone) return;
    this.#gone = true;
    this.owned.clear();
    // Either the whole connection broke, or only its input ended and what is written is still read.
    if (this.#parts.random.chance(0.5)) this.#parts.client.leave();
    await this.#ask("shutdown", "", "", () => this.#parts.sessions.shutdown());
  }

  async #do(deed: Deed): Promise<void> {
    const { random, sessions, client, clock, known } = this.#parts;
    const own = this.owned.size === 0 ? undefined : random.pick([...this.owned]);
    const any = known.length === 0 ? undefined : random.pick(known);
    switch (deed) {
      case "create":
        return this.#create();
      case "prompt":
        return own === undefined ? undefined : this.#prompt(own);
      case "cancel":
        return own === undefined ? undefined : this.#cancel(own);
      case "withdraw":
        return this.#withdraw();
      case "configure": {
        if (own === undefined) return;
        const change = random.pick([
          { id: "mode", value: "code" },
          { id: "mode", value: "plan" },
          { id: "fast", value: true },
          { id: "fast", value: "wrong" },
        ]);
        return void this.#ask(
          "configure",
          own,
          "",
          () => sessions.configure(own, change),
          (config) => this.#told(own, config),
        );
      }
      case "close":
        return own === undefined ? undefined : this.#close(own);
      case "load":
      case "resume": {
        const target = random.chance(0.3) ? own ?? any : any;
        return target === undefined ? undefined : this.#join(deed, target);
      }
      case "list":
        return void this.#ask("list", "", "", () => sessions.list({}));
      case "remove": {
        if (own === undefined) return;
        this.owned.delete(own);
        return void this.#ask("remove", own, "", () => sessions.remove(own));
      }
      case "trespass":
        return void this.#ask("prompt", "nobody", "trespass", () => this.#sent("nobody", { parts: [] }));
      case "stall":
        client.stall();
        await clock.sleep(random.between(10, 2000));
        return client.resume();
      case "leave":
        return void this.shutdown();
    }
  }

  #create(): void {
    const { sessions, known } = this.#parts;
    void this.#ask("create", "", "", async () => {
      const info = await sessions.create(PLACE);
      known.push(info.sessionId);
      return info;
    }, (info) => this.#named(info));
  }

  #join(mode: "load" | "resume", sessionId: string): void {
    const { sessions } = this.#parts;
    void this.#ask(mode, sessionId, "", () => sessions[mode](sessionId, PLACE), (info) => this.#named(info));
  }

  #told(sessionId: string, config: Config): void {
    const { tape, by, client } = this.#parts;
    const { booleanOptions } = client.abilities;
    const options = config.options.filter(({ type }) => type !== "boolean" || booleanOptions);
    tape.add({ kind: "told", by, sessionId, config: { ...config, options } });
  }

  /** The response that names a Session is on its way. */
  #named({ sessionId, config }: SessionInfo): void {
    this.#told(sessionId, config);
    if (this.#gone) return;
    this.owned.add(sessionId);
    this.#parts.sessions.announce(sessionId);
  }

  #prompt(sessionId: string): void {
    const { random, by } = this.#parts;
    const prompt = `${by}.p${++this.#prompts}`;
    const parts: DraftPart[] = [{ kind: "text", text: prompt }];
    if (random.chance(0.15)) parts.push({ kind: "link", uri: "file:///w/a.txt", name: "a.txt" });
    if (random.chance(0.1)) {
      const bytes = new Uint8Array(random.between(0, 5000)).fill(7);
      parts.push({ kind: "bytes", purpose: "image", name: "a.png", mimeType: "image/png", bytes });
    }
    void this.#ask("prompt", sessionId, prompt, (signal) => this.#sent(sessionId, { parts }, signal));
  }

  async #sent(
    sessionId: string,
    draft: Draft,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<string> {
    return (await this.#parts.sessions.prompt(sessionId, draft, signal)).stopReason;
  }

  #cancel(sessionId: string): void {
    const { sessions, tape, by } = this.#parts;
    tape.add({ kind: "cancel", by, sessionId });
    sessions.cancel(sessionId);
  }

  #withdraw(): void {
    const prompts = [...this.#asked].filter(([, { wish }]) => wish === "prompt");
    if (prompts.length === 0) return;
    const { tape, by, random } = this.#parts;
    const [id, { stop }] = random.pick(prompts);
    tape.add({ kind: "withdraw", by, id });
    stop.abort(new Error("The request was withdrawn"));
  }

  #close(sessionId: string): void {
    this.owned.delete(sessionId);
    void this.#ask("close", sessionId, "", () => this.#parts.sessions.close(sessionId));
  }

  async #ask<T>(
    wish: Wish,
    sessionId: string,
    prompt: string,
    act: (signal: AbortSignal) => Promise<T>,
    then: (value: T) => void = () => {},
  ): Promise<void> {
    const { tape, by, client } = this.#parts;
    const id = tape.id();
    const asked = { wish, sessionId, stop: new AbortController() };
    this.#asked.set(id, asked);
    tape.add({ kind: "asked", by, id, wish, sessionId, prompt });
    const over = (ending: Ending) => {
      this.#asked.delete(id);
      tape.add({ kind: "answered", by, id, ending, left: client.left });
    };
    try {
      const value = await act(asked.stop.signal);
      over({ ok: true, value: wordFor(value) });
      then(value);
    } catch (error) {
      const { name, message } = error as Error;
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      over({ ok: false, name, code, message });
    }
  }
}

/** What the tape keeps of an answer: a stop reason, or the Session that it names. */
function wordFor(value: unknown): string {
  if (typeof value === "object" && value !== null && "sessionId" in value) return String(value.sessionId);
  return typeof value === "string" ? value : "";
}
