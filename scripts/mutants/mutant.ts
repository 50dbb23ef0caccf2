/** A planted fault: one edit that breaks a rule. */
export interface Mutant {
  /** The acceptance ids of the rule that it breaks. */
  readonly ids: readonly string[];
  /** What goes wrong, in a few words. */
  readonly fault: string;
  /** The file that is edited, from the root of the tree. */
  readonly file: string;
  /** Text that occurs exactly once in it. */
  readonly find: string;
  readonly replace: string;
  /** Test files or folders that ought to notice. */
  readonly tests: readonly string[];
}

/** Plants faults in one file: the ids of the rule with spaces between them, what goes wrong, the text to find, what replaces it. */
export type Planter = (ids: string, fault: string, find: string, replace: string) => Mutant;

/** A planter for a file whose faults these tests ought to notice. */
export function planterOf(file: string, ...tests: readonly string[]): Planter {
  return (ids, fault, find, replace) => ({ ids: ids.split(" "), fault, file, find, replace, tests });
}
