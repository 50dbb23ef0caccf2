import type { Mutant } from "./mutant.ts";
import { SESSION_MUTANTS } from "./session.ts";

export type { Mutant } from "./mutant.ts";

/** Every planted fault. */
export const MUTANTS: readonly Mutant[] = [...SESSION_MUTANTS];
