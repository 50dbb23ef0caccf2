import type { Answer, Interaction } from "../model/question.ts";
import { ANSWER_FIELD, formFields } from "./form.ts";
import { checkValues } from "./values.ts";
import { LIMITS } from "../limits.ts";
import type { Meta } from "../model/json.ts";

/** A checked answer, or why what came is none. The sentence holds nothing that was typed. */
export type AnswerResult = { readonly answer: Answer } | { readonly invalid: string };

/**
 * Turns a Client's raw response to {@linkcode dialogOf}'s request into an answer. Only what was offered is ever taken: everything
 * unknown, missing, extra or out of bounds is invalid.
 */
export function answerOf(interaction: Interaction, response: unknown): AnswerResult {
  if (!isObject(response)) {
    return { invalid: "The editor answered the dialog with something that is not an object" };
  }
  const { kind } = interaction;
  const result = kind === "question" || kind === "form" || kind === "url"
    ? elicited(interaction, response)
    : permitted(interaction, response);
  const meta = metaOf(response._meta);
  return "invalid" in result || meta === undefined ? result : { answer: { ...result.answer, meta } };
}

/** What a Client adds to its answer, where that is an object within its bound. */
function metaOf(meta: unknown): Meta | undefined {
  if (!isObject(meta)) return undefined;
  const { length } = JSON.stringify(meta);
  return length > 2 && length <= LIMITS.metaBytes ? meta as Meta : undefined;
}

function permitted(interaction: Interaction, response: Plain): AnswerResult {
  const stray = strayField(response, ["outcome"]);
  if (stray !== undefined) return { invalid: stray };
  const outcome = response.outcome;
  if (!isObject(outcome)) return { invalid: "The editor answered the permission request without an outcome" };
  if (outcome.outcome === "cancelled") {
    const extra = strayField(outcome, ["outcome"]);
    return extra === undefined ? { answer: { kind: "cancel" } } : { invalid: extra };
  }
  if (outcome.outcome !== "selected") {
    return { invalid: "The editor answered the permission request with an unknown outcome" };
  }
  const extra = strayField(outcome, ["outcome", "optionId"]);
  if (extra !== undefined) return { invalid: extra };
  return chosen(interaction, outcome.optionId);
}

function elicited(interaction: Interaction, response: Plain): AnswerResult {
  const { action, content } = response;
  const stray = strayField(response, ["action", "content"]);
  if (stray !== undefined) return { invalid: stray };
  if (action === "decline" || action === "cancel") {
    return content === undefined || content === null
      ? { answer: { kind: action } }
      : { invalid: `The editor answered the form with "${action}" and with values` };
  }
  if (action !== "accept") return { invalid: "The editor answered the form with an unknown action" };
  if (interaction.kind === "url") {
    return content === undefined || content === null
      ? { answer: { kind: "values", values: {} } }
      : { invalid: "The editor answered the page with values" };
  }
  if (!isObject(content)) return { invalid: "The editor accepted the form without its values" };
  const checked = checkValues(formFields(interaction), content);
  if ("invalid" in checked) return checked;
  if (interaction.kind === "form") return { answer: { kind: "values", values: checked.values } };
  return chosen(interaction, checked.values[ANSWER_FIELD]);
}

function chosen(interaction: Interaction, optionId: unknown): AnswerResult {
  const option = interaction.options.find((offered) => offered.optionId === optionId);
  return option === undefined
    ? { invalid: "The editor chose an option that was not offered" }
    : { answer: { kind: "option", optionId: option.optionId } };
}

type Plain = { readonly [name: string]: unknown };

function isObject(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `_meta` may stand anywhere; any other field that is not known makes the answer doubtful. */
function strayField(object: Plain, known: readonly string[]): string | undefined {
  const stray = Object.keys(object).some((name) => name !== "_meta" && !known.includes(name));
  return stray ? "The editor's answer has fields that the dialog did not ask for" : undefined;
}
