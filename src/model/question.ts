import type { Meta } from "./json.ts";

/** What kind of question the Host asks a person. */
export type InteractionKind =
  | "permission"
  | "question"
  | "form"
  | "url"
  | "sandbox_boundary"
  | "client_capability";

/** How far a lasting permission reaches. `what` is the action, `value` its object (a path, a command). */
export interface GrantScope {
  /** The kind of action, such as `write`. */
  readonly what: string;
  /** What it is done to: a path, a command. */
  readonly value: string;
  /** How long it lasts. */
  readonly until: "turn" | "session" | "forever";
}

/** A lasting permission that the Host keeps, or a lasting refusal. */
export interface Grant {
  /** Its id. */
  readonly grantId: string;
  /** What it allows. */
  readonly scope: GrantScope;
  /** What it answers: `allow` where absent. */
  readonly effect?: "allow" | "deny";
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** One answer that can be chosen. `effect` is absent for a plain question. */
export interface QuestionOption {
  /** Its id, unique in the question. */
  readonly optionId: string;
  /** The label of its button. */
  readonly name: string;
  /** What choosing it means. */
  readonly description?: string;
  /** Whether it allows or denies; absent where the options are plain answers. */
  readonly effect?: "allow" | "deny";
  /** Set where choosing it makes a Grant (allow) or a lasting refusal (deny). */
  readonly scope?: GrantScope;
  /** Whether whoever asks remembers this answer by itself; the Host makes no Grant of it. */
  readonly lasting?: boolean;
  /** Passed through unread. */
  readonly meta?: Meta;
}

/** One field of a form. Bounds are inclusive; lengths count UTF-16 units. */
export type FormField =
  & {
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
    readonly required: boolean;
  }
  & (
    | {
      readonly type: "string";
      readonly default?: string;
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly pattern?: string;
      readonly format?: "email" | "uri" | "date" | "date-time";
    }
    | {
      readonly type: "number" | "integer";
      readonly default?: number;
      readonly minimum?: number;
      readonly maximum?: number;
    }
    | { readonly type: "boolean"; readonly default?: boolean }
    | { readonly type: "enum"; readonly default?: string; readonly choices: readonly FormChoice[] }
    | {
      readonly type: "multi_enum";
      readonly default?: readonly string[];
      readonly choices: readonly FormChoice[];
      readonly minItems?: number;
      readonly maxItems?: number;
    }
  );

/** One value of an enum field and the words to show for it. */
export interface FormChoice {
  /** What is answered. */
  readonly value: string;
  /** Its label. */
  readonly title?: string;
}

/** A question as an Engine asks it. */
export interface Question {
  /** What kind of dialog it needs. */
  readonly kind: InteractionKind;
  /** A tool of the same Run whose card the dialog belongs to; its input was announced before. */
  readonly toolCallId?: string;
  /** What is asked, for people. */
  readonly message: string;
  /** For every kind but `form` and `url`. */
  readonly options: readonly QuestionOption[];
  /** For `form`. */
  readonly fields?: readonly FormField[];
  /** For `url`: where a person is sent, and the name under which its completion is told. */
  readonly page?: { readonly url: string; readonly elicitationId: string };
  /** Passed through unread. */
  readonly meta?: Meta;
}

/** A question that waits, as a snapshot or an `interaction` frame shows it. */
export interface Interaction extends Question {
  /** Its id. */
  readonly interactionId: string;
  /** The Run that waits for the answer. */
  readonly run: import("./run.ts").Run;
}

/** Values of a form by field name. */
export type FormValues = { readonly [name: string]: string | number | boolean | readonly string[] };

/** What a person answered. Who agrees to a `url` answers with no values. `meta` is the editor's own, passed through unread. */
export type Answer =
  & { readonly meta?: Meta }
  & (
    | { readonly kind: "option"; readonly optionId: string }
    | { readonly kind: "values"; readonly values: FormValues }
    | { readonly kind: "decline" }
    | { readonly kind: "cancel" }
  );

/** Why an Interaction closed without this connection's answer, or with it. */
export type InteractionEnd = "answered" | "granted" | "run_ended" | "stopped" | "withdrawn" | "expired";
