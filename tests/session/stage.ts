import { Sessions } from "../../src/session/mod.ts";
import type { Draft } from "../../src/session/draft.ts";
import type { Files, Link, Log } from "../../src/session/ports.ts";
import type { PromptAnswer } from "../../src/session/prompt.ts";
import { ManualClock, settle } from "./manual_clock.ts";
import { ScriptedClient } from "./scripted_client.ts";
import { ScriptedHost } from "./scripted_host.ts";

/** How a prompt ended: its stop reason, or its error's code. */
export type Ending = { readonly stop: string; readonly meta?: unknown } | { readonly error: string };

/** A connection between a scripted Client and a scripted Host, with ids `id1`, `id2`, … and a clock of its own. */
export class Stage {
  readonly host: ScriptedHost = new ScriptedHost();
  readonly client: ScriptedClient = new ScriptedClient();
  readonly clock: ManualClock = new ManualClock();
  readonly logged: string[] = [];
  readonly sessions: Sessions;
  files: Partial<Files> = {};
  readonly #never = new AbortController();
  #ids = 0;

  constructor() {
    const keep = (message: string) => void this.logged.push(message);
    const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
    this.sessions = new Sessions({
      host: this.host,
      client: this.client,
      files: {
        directory: (path) => this.files.directory?.(path) ?? Promise.resolve(path),
        link: (uri, roots, options): Promise<Link> =>
          this.files.link?.(uri, roots, options) ?? Promise.resolve({ kind: "reference" }),
      },
      clock: this.clock,
      ids: { next: () => `id${++this.#ids}` },
      log,
    });
  }

  /** A new Session whose creation is answered and announced. The list of operations starts empty. */
  async create(): Promise<string> {
    const { sessionId } = await this.sessions.create({ cwd: "/work", roots: [], mcpServers: [] });
    this.sessions.announce(sessionId);
    this.host.operations.length = 0;
    return sessionId;
  }

  /** Sends a prompt and lets everything happen that can. */
  async prompt(sessionId: string, draft: Draft | string = "go"): Promise<Asked> {
    const whole = typeof draft === "string" ? { parts: [{ kind: "text" as const, text: draft }] } : draft;
    const answer = this.sessions.prompt(sessionId, whole, this.#never.signal);
    const asked = new Asked(answer);
    await settle();
    return asked;
  }

  /** The id of the Turn that was started last. */
  get turnId(): string {
    return this.host.ops("start").at(-1)!.split(" ")[1]!;
  }
}

/** A prompt that was sent. */
export class Asked {
  ending: Ending | undefined;
  readonly done: Promise<Ending>;

  constructor(answer: Promise<PromptAnswer>) {
    this.done = answer.then(
      ({ stopReason, meta }): Ending =>
        meta === undefined ? { stop: stopReason } : { stop: stopReason, meta },
      (error): Ending => ({ error: error.code ?? error.name }),
    );
    this.done.then((ending) => this.ending = ending);
  }
}
