import { type Outcome, simulate } from "./simulation.ts";
import type { Between, World } from "./world.ts";

/** Findings of one seed that are told. */
const TOLD = 5;

/** What a {@linkcode Campaign} plays. */
export interface CampaignOptions {
  /** The first seed; the others follow it. */
  readonly seed: number;
  readonly runs: number;
  /** Seeds that may fail before it stops. */
  readonly most: number;
  /** Milliseconds of real time after which no further seed begins. */
  readonly ms?: number;
  /** What stands between connections and the Host. */
  readonly between?: (world: World) => Between;
  /** Sees each outcome. */
  readonly each?: (outcome: Outcome) => void;
}

/** Many seeds, one after the other. */
export class Campaign {
  /** One line each, with the seed that shows it. */
  readonly findings: string[] = [];
  failed: number = 0;
  /** Seeds that were played. */
  played: number = 0;
  readonly #options: CampaignOptions;
  #steps = 0;
  #prompts = 0;
  #seconds = 0;

  constructor(options: CampaignOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { seed, runs, most, ms = Infinity, each, between } = this.#options;
    const began = performance.now();
    while (this.played < runs && this.failed < most && performance.now() - began < ms) {
      const outcome = await simulate(seed + this.played++, {}, between);
      this.#take(outcome);
      each?.(outcome);
    }
    this.#seconds = (performance.now() - began) / 1000;
  }

  get summary(): string {
    const each = (sum: number) => (sum / Math.max(this.played, 1)).toFixed(1);
    const rate = (this.played / Math.max(this.#seconds, 0.001)).toFixed(0);
    return `${this.played} seeds from ${this.#options.seed}: ${this.failed} failed; ${rate} seeds/s, ` +
      `${each(this.#steps)} steps and ${each(this.#prompts)} prompts a seed`;
  }

  #take({ seed, findings, steps, prompts }: Outcome): void {
    this.#steps += steps;
    this.#prompts += prompts;
    if (findings.length === 0) return;
    this.failed++;
    for (const { rule, what, seq } of findings.slice(0, TOLD)) {
      this.findings.push(`seed ${seed}: ${rule}: ${what} (event ${seq})`);
    }
  }
}
