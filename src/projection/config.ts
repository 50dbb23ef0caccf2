import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Config, ConfigOption } from "../model/config.ts";
import { LIMITS } from "../limits.ts";
import { oneLine } from "./encode.ts";

type Select = Extract<ConfigOption, { type: "select" }>;

/** The option that is also shown as modes: the first select of category `mode`. */
export function modeOption(config: Config): Select | undefined {
  return config.options.find((option): option is Select =>
    option.type === "select" && option.category === "mode" && option.choices.length > 0
  );
}

/** The modes of a Session as its responses carry them; undefined where it has none. */
export function modesOf(config: Config): SessionModeState | undefined {
  const mode = modeOption(config);
  if (mode === undefined) return undefined;
  return {
    currentModeId: mode.value,
    availableModes: mode.choices.map((choice) => ({
      id: choice.value,
      name: oneLine(choice.name, LIMITS.titleLength),
      ...described(choice.description),
    })),
  };
}

/**
 * All options of a Session as responses and updates carry them, in order. Boolean options only with `booleans`: a Client that
 * did not ask for them must not get any.
 */
export function configOptionsOf(
  config: Config,
  shows: { readonly booleans: boolean },
): SessionConfigOption[] {
  const options: SessionConfigOption[] = [];
  for (const option of config.options) {
    const common = {
      id: option.id,
      name: oneLine(option.name, LIMITS.titleLength),
      ...described(option.description),
      ...(option.category === undefined ? {} : { category: option.category }),
    };
    if (option.type === "select") {
      options.push({
        ...common,
        type: "select",
        currentValue: option.value,
        options: option.choices.map((choice) => ({
          value: choice.value,
          name: oneLine(choice.name, LIMITS.titleLength),
          ...described(choice.description),
        })),
      });
    } else if (shows.booleans) {
      options.push({ ...common, type: "boolean", currentValue: option.value });
    }
  }
  return options;
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description: oneLine(description, LIMITS.commandLength) };
}
