import type { EngineArchive, EnginePast, KeptRequest, KeptSession } from "../../../src/engine/archive.ts";
import type { EngineContext, EngineSession } from "../../../src/engine/contract.ts";
import { COMPLETED } from "./world.ts";

/** A Session that an Engine keeps, `at` a time. */
export function kept(keptAs: string, at?: number, more: Partial<KeptSession> = {}): KeptSession {
  return { keptAs, cwd: "/w", roots: [], title: `Title of ${keptAs}`, ...(at && { updatedAt: at }), ...more };
}

/** An archive that a test scripts, and what was asked of it. */
export class ScriptedArchive implements EngineArchive {
  readonly asked: string[] = [];
  /** Contexts of the Sessions that were taken. */
  readonly contexts: EngineContext[] = [];
  sessions: KeptSession[];
  telling: (request: KeptRequest) => Promise<void> = () => Promise.resolve();
  replay: (past: EnginePast, context: EngineContext) => Promise<void> = () => Promise.resolve();
  removing: (keptAs: string) => Promise<void> = () => Promise.resolve();

  constructor(...sessions: KeptSession[]) {
    this.sessions = sessions;
  }

  async list(request: KeptRequest, signal: AbortSignal): Promise<readonly KeptSession[]> {
    this.asked.push(`list ${request.cwd ?? ""}`.trim());
    signal.addEventListener("abort", () => this.asked.push("gave up"));
    await this.telling(request);
    return [...this.sessions];
  }

  async take(
    { keptAs }: KeptSession,
    context: EngineContext,
    past: EnginePast,
    _request: KeptRequest,
    signal: AbortSignal,
  ): Promise<EngineSession> {
    this.asked.push(`take ${keptAs}`);
    this.contexts.push(context);
    signal.addEventListener("abort", () => this.asked.push("gave up"));
    await this.replay(past, context);
    await context.state({ kept: keptAs }, keptAs);
    return {
      run: (turn) => {
        this.asked.push(`run ${turn.turnId}`);
        return Promise.resolve(COMPLETED);
      },
      configure: () => Promise.resolve(),
      close: () => {
        this.asked.push(`close ${keptAs}`);
        return Promise.resolve();
      },
    };
  }

  async remove(keptAs: string): Promise<void> {
    this.asked.push(`remove ${keptAs}`);
    await this.removing(keptAs);
    this.sessions = this.sessions.filter((each) => each.keptAs !== keptAs);
  }
}
