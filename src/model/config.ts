/** One choice of a select option. */
export interface ConfigChoice {
  /** What is set. */
  readonly value: string;
  /** Its name for people. */
  readonly name: string;
  /** What it means. */
  readonly description?: string;
}

/** What all kinds of options have. */
export interface ConfigBase {
  /** Its id, stable for an Engine. */
  readonly id: string;
  /** Its name for people. */
  readonly name: string;
  /** What it is for. */
  readonly description?: string;
  /** `mode` marks the option that is also shown as ACP modes. */
  readonly category?: string;
}

/** A setting of a Session with its current value. */
export type ConfigOption =
  | ConfigBase & {
    readonly type: "select";
    readonly value: string;
    readonly choices: readonly ConfigChoice[];
  }
  | ConfigBase & { readonly type: "boolean"; readonly value: boolean };

/** All settings of a Session. `revision` rises by one with each change; it is the compare-and-set token. */
export interface Config {
  /** Rises with every change. */
  readonly revision: number;
  /** All options with their present values. */
  readonly options: readonly ConfigOption[];
}

/** One wanted change. */
export interface ConfigChange {
  /** The option. */
  readonly id: string;
  /** Its new value. */
  readonly value: string | boolean;
}
