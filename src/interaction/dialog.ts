import type { PermissionOptionKind } from "@agentclientprotocol/sdk";
import type { FormField, GrantScope, Interaction, QuestionOption } from "../model/question.ts";
import type { JsonObject, Meta } from "../model/json.ts";
import { fits, oneLine, prefixEnd, safeCut, UPDATE_BYTES } from "../projection/encode.ts";
import { formFields, formSchema } from "./form.ts";
import { LIMITS } from "../limits.ts";
import { patternOf } from "./values.ts";
import { type Redact, redactSecrets } from "../model/redact.ts";

/** What a dialog needs to know besides its question. */
export interface DialogContext {
  readonly sessionId: string;
  readonly abilities: { readonly forms: boolean; readonly urls?: boolean };
  /** The tool's card as {@linkcode TurnProjection.card} gives it. */
  readonly card?: JsonObject;
  /** Takes secrets out of what is shown; {@linkcode redactSecrets} unless given. */
  readonly redact?: Redact;
}

/** A request to the Client, or the sentence that says why it cannot be asked. */
export type Dialog =
  | { readonly method: "session/request_permission" | "elicitation/create"; readonly params: JsonObject }
  | { readonly unsupported: string };

/** Bytes of the words of a question. */
const MESSAGE_BYTES = 4096;
/** UTF-16 units of a scope's object inside an option's name. */
const SCOPE_LENGTH = 512;

/**
 * The dialog of an Interaction: questions about permission as `session/request_permission`, questions and forms as
 * `elicitation/create`. A question is never asked as a permission: its answers would read as approvals.
 */
export function dialogOf(interaction: Interaction, context: DialogContext): Dialog {
  const dialog = interaction.kind === "url"
    ? page(interaction, context)
    : interaction.kind === "question" || interaction.kind === "form"
    ? elicitation(interaction, context)
    : permission(interaction, context);
  if ("params" in dialog && !fits(JSON.stringify(dialog.params), UPDATE_BYTES)) {
    return { unsupported: "The agent's question is too large for a dialog" };
  }
  return dialog;
}

function permission(interaction: Interaction, context: DialogContext): Dialog {
  if (interaction.options.length === 0) {
    return { unsupported: "The agent asks for a permission without offering an answer" };
  }
  const redact = context.redact ?? redactSecrets;
  const message = bounded(redact(interaction.message));
  const card = context.card ?? {
    title: oneLine(message, LIMITS.titleLength),
    kind: "other",
    status: "pending",
  };
  return {
    method: "session/request_permission",
    params: {
      sessionId: context.sessionId,
      toolCall: {
        ...explained(card, message),
        toolCallId: interaction.toolCallId ?? interaction.interactionId,
      },
      options: interaction.options.map((option) => ({
        optionId: option.optionId,
        name: optionName(option, redact),
        kind: optionKind(option),
        ...metaOf(option.meta),
      })),
      ...metaOf(interaction.meta),
    },
  };
}

/** The card with the question's own words first, unless its title says the same. */
function explained(card: JsonObject, message: string): JsonObject {
  if (message === "" || message === card.title) return card;
  const shown = Array.isArray(card.content) ? card.content : [];
  return { ...card, content: [{ type: "content", content: { type: "text", text: message } }, ...shown] };
}

/** An option without an effect is shown as a refusal: it must not look like an approval. */
function optionKind(option: QuestionOption): PermissionOptionKind {
  const verb = option.effect === "allow" ? "allow" : "reject";
  return option.scope === undefined && option.lasting !== true ? `${verb}_once` : `${verb}_always`;
}

const UNTIL: { readonly [until in GrantScope["until"]]: string } = {
  turn: "until this turn ends",
  session: "for this session",
  forever: "from now on, in every session",
};

/** The option's name; where it makes a lasting permission, with exactly what it reaches. */
function optionName(option: QuestionOption, redact: Redact): string {
  const name = oneLine(redact(option.name), LIMITS.titleLength);
  const scope = option.scope;
  if (scope === undefined) return name;
  const whole = redact(scope.value);
  const object = middleCut(oneLine(whole, whole.length), SCOPE_LENGTH);
  return `${name} (${oneLine(scope.what, SCOPE_LENGTH)}${object === "" ? "" : ` ${object}`}, ${
    UNTIL[scope.until]
  })`;
}

/** Keeps both ends: of a path the folder and the file, of a command its name and its last words. */
function middleCut(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor((length - 1) / 2);
  return `${text.slice(0, safeCut(text, half, 0))}…${text.slice(safeCut(text, text.length - half, 0))}`;
}

function elicitation(interaction: Interaction, context: DialogContext): Dialog {
  if (!context.abilities.forms) {
    return {
      unsupported: interaction.kind === "form"
        ? "The agent asks for a form, which this editor does not show"
        : "The agent asks a question, which this editor does not show",
    };
  }
  const fields = formFields(interaction);
  const fault = faultOf(interaction, fields);
  if (fault !== undefined) return { unsupported: fault };
  const redact = context.redact ?? redactSecrets;
  return {
    method: "elicitation/create",
    params: {
      sessionId: context.sessionId,
      ...(interaction.toolCallId === undefined ? {} : { toolCallId: interaction.toolCallId }),
      mode: "form",
      message: bounded(redact(interaction.message)),
      requestedSchema: formSchema(fields, redact),
      ...metaOf(interaction.meta),
    },
  };
}

/** Sends a person to a page. What is to be read there is no form, and no other dialog takes its place. */
function page(interaction: Interaction, context: DialogContext): Dialog {
  const { message, meta, page, toolCallId } = interaction;
  if (context.abilities.urls !== true) {
    return { unsupported: "The agent sends you to a page, which this editor does not open" };
  }
  if (page === undefined) return { unsupported: "The agent sends you to a page and does not say to which" };
  const redact = context.redact ?? redactSecrets;
  return {
    method: "elicitation/create",
    params: {
      sessionId: context.sessionId,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      mode: "url",
      message: bounded(redact(message)),
      url: page.url,
      elicitationId: page.elicitationId,
      ...metaOf(meta),
    },
  };
}

function metaOf(meta: Meta | undefined): { readonly _meta?: Meta } {
  return meta === undefined ? {} : { _meta: meta };
}

/** What makes a form one that nobody could answer or check. */
function faultOf(interaction: Interaction, fields: readonly FormField[]): string | undefined {
  if (interaction.kind === "question" && interaction.options.length === 0) {
    return "The agent asks a question without offering an answer";
  }
  if (new Set(fields.map((field) => field.name)).size !== fields.length) {
    return "The agent's form has two fields of one name";
  }
  const broken = fields.find((field) =>
    field.type === "string" && field.pattern !== undefined && patternOf(field.pattern) === undefined
  );
  return broken && `The pattern of the form field "${broken.name}" is no regular expression`;
}

function bounded(message: string): string {
  const fine = message.toWellFormed();
  const end = prefixEnd(fine, 0, MESSAGE_BYTES);
  return end === fine.length ? fine : `${fine.slice(0, end)}…`;
}
