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
