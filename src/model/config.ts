/** One choice of a select option. */
export interface ConfigChoice {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
}

interface ConfigBase {
  readonly id: string;
  readonly name: string;
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
  readonly revision: number;
  readonly options: readonly ConfigOption[];
}

/** One wanted change. */
export interface ConfigChange {
  readonly id: string;
  readonly value: string | boolean;
}
