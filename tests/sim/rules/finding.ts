/** A rule that did not hold. */
export interface Finding {
  /** The name of the rule. */
  readonly rule: string;
  readonly what: string;
  /** Where on the tape it shows. */
  readonly seq: number;
}
