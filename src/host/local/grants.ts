import type { Grant, GrantScope, Question, QuestionOption } from "../../model/question.ts";
import type { Ids } from "../../model/clock.ts";
import type { Write } from "../store/contract.ts";
import type { ActiveRun } from "./active_run.ts";
import type { Journal } from "./journal.ts";

/**
 * The lasting permissions and refusals of a Session. Those for a Turn live in its Run; the others are durable. `forever` outlives
 * this process like `session` does, and both end with the Session.
 */
export class Grants {
  readonly #kept: Map<string, Grant>;
  readonly #journal: Journal;
  readonly #ids: Ids;
  readonly #date: () => number;

  constructor(
    kept: readonly Grant[],
    options: { journal: Journal; ids: Ids; date: () => number },
  ) {
    this.#kept = new Map(kept.map((grant) => [grant.grantId, grant]));
    this.#journal = options.journal;
    this.#ids = options.ids;
    this.#date = options.date;
  }

  /** The option that a Grant chooses; a refusal goes before a permission. */
  choose(question: Question, run: ActiveRun): QuestionOption | undefined {
    if (question.kind !== "permission" && question.kind !== "sandbox_boundary") return undefined;
    const grants = [...run.grants, ...this.#kept.values()];
    const chosen = question.options.filter((option) => grants.some((grant) => fits(grant, option)));
    return chosen.find((option) => option.effect === "deny") ?? chosen[0];
  }

  /** The Grant that an answer makes, with the write that keeps it; undefined for an option that does not last. */
  make(option: QuestionOption): { grant: Grant; writes: readonly Write[] } | undefined {
    const { scope, effect } = option;
    if (scope === undefined || effect === undefined) return undefined;
    const grant: Grant = { grantId: this.#ids.next(), scope, effect, createdAt: this.#date() };
    return { grant, writes: scope.until === "turn" ? [] : [{ op: "grant", grant }] };
  }

  /** Puts a Grant in force once it is durable. */
  add(grant: Grant, run: ActiveRun): void {
    if (grant.scope.until === "turn") run.grants.push(grant);
    else this.#kept.set(grant.grantId, grant);
  }

  /** All that are in force, oldest first, those of live Turns last. */
  list(runs: Iterable<ActiveRun>): Grant[] {
    return [...this.#kept.values(), ...[...runs].flatMap((run) => run.grants)];
  }

  /** Takes a Grant back; silent where there is none. */
  async revoke(grantId: string, runs: Iterable<ActiveRun>): Promise<void> {
    for (const { grants } of runs) {
      const index = grants.findIndex((grant) => grant.grantId === grantId);
      if (index >= 0) grants.splice(index, 1);
    }
    if (!this.#kept.has(grantId)) return;
    await this.#journal.commit(() => [{ op: "revoke", grantId }]);
    this.#kept.delete(grantId);
  }
}

/** How far it reaches has to be the same in all but its end: a Grant made for longer answers for a shorter one too. */
function fits(grant: Grant, option: QuestionOption): boolean {
  return option.scope !== undefined && option.effect === (grant.effect ?? "allow") &&
    sameObject(grant.scope, option.scope);
}

function sameObject(a: GrantScope, b: GrantScope): boolean {
  return a.what === b.what && a.value === b.value;
}
