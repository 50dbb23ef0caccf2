import type { Json, JsonObject } from "../../src/model/json.ts";

/** The editor leaves this request without an answer for ever. */
export const NEVER: unique symbol = Symbol("never answered");

/** The editor answers with an error. */
export class Refusal {
  /** JSON-RPC code and sentence. */
  constructor(readonly code: number, readonly message: string) {}
}

/** What the editor answers: a result, an error or nothing. */
export type Reply = Json | Refusal | typeof NEVER;

/** How an editor answers one method. `withdrawn` aborts when the agent takes its request back. */
export type Answerer = (params: JsonObject, withdrawn: AbortSignal) => Reply | Promise<Reply>;

/** How an editor answers, by method. A method that is missing is answered with -32601. */
export type Answers = Readonly<Record<string, Answerer>>;

/** The kinds of an option in a permission dialog. */
export type OptionKind = "allow_once" | "allow_always" | "reject_once" | "reject_always";

/** Chooses the first option of a kind in every permission dialog. */
export function choose(kind: OptionKind): Answers {
  return {
    "session/request_permission": (params) => {
      const options = params.options as readonly { readonly kind: string; readonly optionId: string }[];
      const option = options.find((each) => each.kind === kind);
      if (option === undefined) throw new Error(`No option of kind "${kind}" is offered`);
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    },
  };
}

/** Answers every permission dialog in the same way, right or wrong. */
export function permission(reply: Reply): Answers {
  return { "session/request_permission": () => reply };
}

/** Answers every form or question in the same way, right or wrong. */
export function elicitation(reply: Reply): Answers {
  return { "elicitation/create": () => reply };
}
