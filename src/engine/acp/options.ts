import type { ConfigChoice, ConfigOption } from "../../model/config.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { recordOf, recordsOf, textOf } from "./shape.ts";

/** How a changed option is set. */
export interface Setting {
  readonly method: string;
  readonly params: JsonObject;
}

/** Ids of options that stand for what an agent has outside of its options. */
const MODE = "mode";
const MODEL = "model";

/**
 * The settings of one Session of an agent: its options, and its modes and models where it has no option for them. The agent's word is
 * kept as it was said, so that modes and options may be told apart when they are set.
 */
export class Settings {
  #options: readonly ConfigOption[] = [];
  #modes: ConfigOption | undefined;
  #models: ConfigOption | undefined;

  /** Takes what came with an opened Session. */
  opened({ configOptions, modes, models }: JsonObject): void {
    if (configOptions !== undefined) this.#options = optionsOf(configOptions);
    const { currentModeId, availableModes } = recordOf(modes);
    this.#modes = select(MODE, "Mode", currentModeId, choicesOf(availableModes, "id"));
    const { currentModelId, availableModels } = recordOf(models);
    this.#models = select(MODEL, "Model", currentModelId, choicesOf(availableModels, "modelId"));
  }

  /** Takes a new list of options. */
  replaced(configOptions: Json | undefined): void {
    this.#options = optionsOf(configOptions);
  }

  /** Takes a mode that the agent changed to by itself; false for one that it does not have. */
  moded(modeId: Json | undefined): boolean {
    const moved = withValue(this.#modes, modeId);
    if (moved !== undefined) this.#modes = moved;
    // The same mode may be an option too, which comes with an update of its own.
    return moved !== undefined || this.#options.some((option) => option.category === MODE);
  }

  /** All of them as the Host keeps them. */
  list(): readonly ConfigOption[] {
    const has = (category: string) =>
      this.#options.some((option) => option.category === category || option.id === category);
    return [
      ...(this.#modes !== undefined && !has(MODE) ? [this.#modes] : []),
      ...(this.#models !== undefined && !has(MODEL) ? [this.#models] : []),
      ...this.#options,
    ];
  }

  /** What has to be sent so that an option has this value; undefined where it has it, or cannot. */
  change(wanted: ConfigOption, sessionId: string): Setting | undefined {
    const present = this.list().find((option) => option.id === wanted.id);
    if (present === undefined || present.type !== wanted.type || present.value === wanted.value) {
      return undefined;
    }
    if (withValue(present, wanted.value) === undefined) return undefined;
    const { value } = wanted;
    if (present === this.#modes) return { method: "session/set_mode", params: { sessionId, modeId: value } };
    if (present === this.#models) {
      return { method: "session/set_model", params: { sessionId, modelId: value } };
    }
    return {
      method: "session/set_config_option",
      params: {
        sessionId,
        configId: wanted.id,
        value,
        ...(wanted.type === "boolean" && { type: "boolean" }),
      },
    };
  }

  /** The agent took a change; its answer to an option holds all options. */
  changed(wanted: ConfigOption, answer: JsonObject): void {
    if (wanted.id === this.#modes?.id && !this.#options.some(({ id }) => id === wanted.id)) {
      this.#modes = withValue(this.#modes, wanted.value) ?? this.#modes;
    } else if (wanted.id === this.#models?.id && !this.#options.some(({ id }) => id === wanted.id)) {
      this.#models = withValue(this.#models, wanted.value) ?? this.#models;
    } else if (answer.configOptions !== undefined) this.replaced(answer.configOptions);
    else this.#options = this.#options.map((option) => option.id === wanted.id ? wanted : option);
  }
}

/** Options with the values that are preferred, as far as they are taken. */
export function withPreferred(
  options: readonly ConfigOption[],
  preferred: Readonly<Record<string, string | boolean>>,
): readonly ConfigOption[] {
  return options.map((option) => withValue(option, preferred[option.id]) ?? option);
}

/** An agent's options; those that cannot be shown are left out. */
function optionsOf(list: Json | undefined): readonly ConfigOption[] {
  return recordsOf(list).flatMap((option): ConfigOption[] => {
    const { id, name, description, category, type, currentValue, options } = option;
    if (typeof id !== "string") return [];
    const base = {
      id,
      name: textOf(name) ?? id,
      ...(typeof description === "string" && { description }),
      ...(typeof category === "string" && { category }),
    };
    if (type === "boolean" && typeof currentValue === "boolean") {
      return [{ ...base, type, value: currentValue }];
    }
    if (type !== "select" || typeof currentValue !== "string") return [];
    // Groups of choices become one list: the Host's options have none.
    const flat = recordsOf(options).flatMap((each) =>
      Array.isArray(each.options) ? recordsOf(each.options) : [each]
    );
    return [{
      ...base,
      type,
      value: currentValue,
      choices: withCurrent(choicesOf(flat, "value"), currentValue),
    }];
  });
}

function choicesOf(list: Json | undefined | readonly JsonObject[], key: string): readonly ConfigChoice[] {
  return recordsOf(list).flatMap((choice) => {
    const { [key]: value, name, description } = choice;
    if (typeof value !== "string") return [];
    return [{ value, name: textOf(name) ?? value, ...(typeof description === "string" && { description }) }];
  });
}

function select(
  id: string,
  name: string,
  value: Json | undefined,
  choices: readonly ConfigChoice[],
): ConfigOption | undefined {
  if (typeof value !== "string" || choices.length === 0) return undefined;
  return { id, name, category: id, type: "select", value, choices: withCurrent(choices, value) };
}

/** Agents may run with a value that they do not offer, such as a model from their own configuration. */
function withCurrent(choices: readonly ConfigChoice[], value: string): readonly ConfigChoice[] {
  return choices.some((choice) => choice.value === value) ? choices : [...choices, { value, name: value }];
}

/** An option with another value; undefined where it does not take it. */
function withValue(option: ConfigOption | undefined, value: Json | undefined): ConfigOption | undefined {
  if (option?.type === "boolean") return typeof value === "boolean" ? { ...option, value } : undefined;
  if (option === undefined || typeof value !== "string") return undefined;
  return option.choices.some((choice) => choice.value === value) ? { ...option, value } : undefined;
}
