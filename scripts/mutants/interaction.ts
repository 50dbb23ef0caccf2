import { type Mutant, planterOf } from "./mutant.ts";

const DIALOG = "tests/interaction/dialog_test.ts";
const EDGES = "tests/interaction/edges_test.ts";
const ANSWER = "tests/interaction/answer_test.ts";

const dialog = planterOf("src/interaction/dialog.ts", DIALOG);
const form = planterOf("src/interaction/form.ts", DIALOG);
const edge = planterOf("src/interaction/dialog.ts", EDGES);
const answer = planterOf("src/interaction/answer.ts", ANSWER);
const values = planterOf("src/interaction/values.ts", ANSWER);

/** Faults of `src/interaction/`. */
export const INTERACTION_MUTANTS: readonly Mutant[] = [
  dialog(
    "I1 I5",
    "a question is asked as a permission",
    'interaction.kind === "question" || interaction.kind === "form"\n    ? elicitation(',
    'interaction.kind === "form"\n    ? elicitation(',
  ),
  dialog(
    "I1",
    "a sandbox boundary is asked as a form",
    'interaction.kind === "question" || interaction.kind === "form"\n    ? elicitation(',
    'interaction.kind !== "permission"\n    ? elicitation(',
  ),
  form(
    "I1",
    "a text's constraints are lost",
    "return { type, minLength, maxLength, pattern, format };",
    "return { type };",
  ),
  form("I1", "a number's bounds are lost", "return { type, minimum, maximum };", "return { type };"),
  form(
    "I1",
    "the number of choices is lost",
    'return { type: "array", items, minItems, maxItems };',
    'return { type: "array", items };',
  ),
  form(
    "I1",
    "a whole number becomes any number",
    '    case "number":\n    case "integer": {\n      const { type, minimum',
    '    case "number":\n    case "integer": {\n      const type = "number";\n      const { minimum',
  ),
  form(
    "I1",
    "nothing is required",
    "required: required.length === 0 ? undefined : required,",
    "required: undefined,",
  ),
  form("I1", "defaults are lost", "    default: field.default,\n", ""),
  form(
    "I1",
    "titles of choices are lost",
    "title: redact(choice.title ?? choice.value)",
    "title: redact(choice.value)",
  ),
  answer(
    "I1",
    "a chosen option is no answer",
    ': { answer: { kind: "option", optionId: option.optionId } };',
    ': { answer: { kind: "cancel" } };',
  ),

  dialog(
    "I2",
    "an option does not say how far it reaches",
    "  if (scope === undefined) return name;\n",
    "  return name;\n",
  ),
  dialog("I2", "an option does not say how long it lasts", "    UNTIL[scope.until]\n", '    ""\n'),
  edge("I2", "a long scope loses its end", "…${text.slice(safeCut(text, text.length - half, 0))}`;", "…`;"),
  dialog(
    "I1 I2",
    "a lasting permission looks like one for this time",
    "? `${verb}_once` : `${verb}_always`",
    "? `${verb}_once` : `${verb}_once`",
  ),

  dialog(
    "I3",
    "an option without an effect looks like an approval",
    'option.effect === "allow" ? "allow" : "reject"',
    'option.effect === "deny" ? "reject" : "allow"',
  ),
  answer(
    "I3",
    "an unknown option is the first one",
    "interaction.options.find((offered) => offered.optionId === optionId);",
    "interaction.options.find((offered) => offered.optionId === optionId) ?? interaction.options[0];",
  ),
  answer(
    "I3",
    "a made-up outcome is read like a choice",
    'if (outcome.outcome !== "selected") {',
    "if (outcome.outcome === undefined) {",
  ),
  answer(
    "I3",
    "an outcome with more in it is taken",
    "if (extra !== undefined) return { invalid: extra };\n  return chosen",
    "return chosen",
  ),
  answer(
    "I3",
    "an answer with more in it is taken",
    'const stray = strayField(response, ["outcome"]);',
    'const stray = strayField({}, ["outcome"]);',
  ),
  answer(
    "I3",
    "an answer to a form with more in it is taken",
    'const stray = strayField(response, ["action", "content"]);',
    'const stray = strayField({}, ["action", "content"]);',
  ),
  planterOf("src/interaction/answer.ts", EDGES)(
    "I3",
    "a list counts as an answer",
    "value !== null && !Array.isArray(value);",
    "value !== null;",
  ),
  answer(
    "I3",
    "a made-up action accepts",
    'if (action !== "accept") return',
    "if (action === undefined) return",
  ),
  answer(
    "I3",
    "a refusal with values is taken",
    "return content === undefined || content === null\n      ? { answer: { kind: action } }",
    "return content !== 0\n      ? { answer: { kind: action } }",
  ),
  values(
    "I3",
    "a field that was not asked for is passed over",
    'if (field === undefined) return { invalid: "The editor\'s form has a field that was not asked for" };',
    "if (field === undefined) continue;",
  ),
  values(
    "I3",
    "a wrong type is taken",
    "if (!hasType(field, value)) return",
    "if (hasType(field, undefined)) return",
  ),
  values("I3", "bounds are not checked", "const fault = faultOf(field, value);", "const fault = undefined;"),
  values(
    "I3",
    "a missing field is no matter",
    "if (missing !== undefined) return",
    "if (missing === null) return",
  ),
  values(
    "I3",
    "an inherited field counts as given",
    "!Object.hasOwn(content, field.name)",
    "!(field.name in content)",
  ),
  values(
    "I3",
    "a fraction is a whole number",
    "return Number.isSafeInteger(value);",
    'return typeof value === "number";',
  ),
  values(
    "I3",
    "a number may be none",
    'return typeof value === "number" && Number.isFinite(value);',
    'return typeof value === "number";',
  ),
  values("I3", "the lower bound is not checked", "value < field.minimum", "value < -Infinity"),
  values("I3", "the upper bound is not checked", "value > field.maximum", "value > Infinity"),
  values(
    "I3",
    "a choice that was not offered is taken",
    "field.choices.some((choice) => choice.value === value) ? undefined",
    "field.choices.length > 0 ? undefined",
  ),
  values(
    "I3",
    "one of several choices was not offered",
    "if (!value.every((item) => offered.has(item)))",
    "if (!value.some((item) => offered.has(item)) && value.length > 0)",
  ),
  values(
    "I3",
    "a choice is taken twice",
    "if (new Set(value).size !== value.length)",
    "if (new Set(value).size > value.length)",
  ),
  values("I3", "too few choices are taken", "value.length < field.minItems", "value.length < 0"),
  values("I3", "too many choices are taken", "value.length > field.maxItems", "value.length > Infinity"),
  values("I3", "a text that is too short is taken", "value.length < field.minLength", "value.length < 0"),
  values(
    "I3",
    "a text that is too long is taken",
    "value.length > field.maxLength",
    "value.length > Infinity",
  ),
  values(
    "I3",
    "a pattern is not checked",
    "!patternOf(field.pattern)?.test(value)",
    "patternOf(field.pattern) === undefined",
  ),
  values(
    "I3",
    "a format is not checked",
    "!FORMATS[field.format](value)",
    "FORMATS[field.format] === undefined",
  ),
  values(
    "I3",
    "a day that there is not is a date",
    "return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value);",
    "return true;",
  ),

  dialog(
    "I5",
    "an editor without forms is asked for one",
    "if (!context.abilities.forms) {",
    "if (context.abilities.forms === undefined) {",
  ),
  dialog(
    "I5",
    "a permission without options is asked",
    "if (interaction.options.length === 0) {",
    "if (interaction.options.length < 0) {",
  ),
  dialog(
    "I5",
    "a question without options is asked",
    'interaction.kind === "question" && interaction.options.length === 0',
    'interaction.kind === "question" && interaction.options.length < 0',
  ),
  dialog("I5", "two fields of one name are asked", "size !== fields.length", "size > fields.length"),
  dialog(
    "I5",
    "a pattern that is none is asked",
    "patternOf(field.pattern) === undefined",
    "field.pattern === null",
  ),

  answer(
    "I6",
    "declining is cancelling",
    "? { answer: { kind: action } }",
    '? { answer: { kind: "cancel" } }',
  ),
  answer(
    "I6",
    "cancelling a question is declining it",
    "? { answer: { kind: action } }",
    '? { answer: { kind: "decline" } }',
  ),
  answer(
    "I1 I6",
    "a dismissed permission is declined",
    'extra === undefined ? { answer: { kind: "cancel" } }',
    'extra === undefined ? { answer: { kind: "decline" } }',
  ),

  dialog(
    "I9",
    "the request does not name its tool",
    "        toolCallId: interaction.toolCallId ?? interaction.interactionId,\n",
    "        toolCallId: interaction.interactionId,\n",
  ),
  dialog("I9", "the request lacks the tool's card", "const card = context.card ?? {", "const card = {"),
  dialog(
    "I9",
    "the question's own words are lost",
    'return { ...card, content: [{ type: "content", content: { type: "text", text: message } }, ...shown] };',
    "return card;",
  ),
  edge("I9", "the card's content is lost", "text: message } }, ...shown] };", "text: message } }] };"),

  dialog(
    "I5",
    "a dialog takes more than a line",
    '"params" in dialog && !fits(JSON.stringify(dialog.params), UPDATE_BYTES)',
    '"params" in dialog && dialog.params === null',
  ),
  dialog(
    "A1",
    "a question has any length",
    "return end === fine.length ? fine : `${fine.slice(0, end)}…`;",
    "return end < 0 ? fine.slice(0, end) : fine;",
  ),
  dialog(
    "K2",
    "a permission's words keep their secrets",
    "const message = bounded(redact(interaction.message));",
    "const message = bounded(interaction.message);",
  ),
  dialog(
    "K2",
    "a form's words keep their secrets",
    "message: bounded(redact(interaction.message)),",
    "message: bounded(interaction.message),",
  ),
  dialog(
    "K2",
    "an option's name keeps its secrets",
    "oneLine(redact(option.name), LIMITS.titleLength)",
    "oneLine(option.name, LIMITS.titleLength)",
  ),
  dialog(
    "K2",
    "a scope keeps its secrets",
    "const whole = redact(scope.value);",
    "const whole = scope.value;",
  ),
  form("K2", "a field's words keep their secrets", "redact(field.description)", "field.description"),
];
