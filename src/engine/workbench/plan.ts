import type { EngineSink } from "../contract.ts";
import type { PlanEntry } from "../../model/plan.ts";

/** A plan whose items get done in step with the steps that follow it. */
export class Plan {
  readonly #items: readonly string[];
  readonly #steps: number;
  #done = 0;

  /** `steps` are how many follow. */
  constructor(items: readonly string[], steps: number) {
    this.#items = items;
    this.#steps = steps;
  }

  /** Shows it as it stands. */
  async show(sink: EngineSink): Promise<void> {
    await sink.plan(this.entries());
  }

  /** One more of the following steps is done; shows the plan where that changed it. */
  async advance(sink: EngineSink): Promise<void> {
    const before = this.#completed();
    this.#done++;
    if (this.#completed() !== before) await this.show(sink);
  }

  /** The items with their present states: done, one at work, the rest. */
  entries(): PlanEntry[] {
    const completed = this.#completed();
    return this.#items.map((content, index) => ({
      content,
      priority: "medium",
      status: index < completed ? "completed" : index === completed ? "in_progress" : "pending",
    }));
  }

  #completed(): number {
    return this.#steps === 0 ? 0 : Math.floor(this.#items.length * this.#done / this.#steps);
  }
}
