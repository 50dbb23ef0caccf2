import type { ConfigChange, ConfigOption } from "../../model/config.ts";
import { HostError } from "../errors.ts";

/** Options with wanted values. Throws `invalid` for an option or a value that there is not. */
export function withChanges(
  options: readonly ConfigOption[],
  changes: readonly ConfigChange[],
): readonly ConfigOption[] {
  const byId = new Map(options.map((option) => [option.id, option]));
  for (const { id, value } of changes) {
    const option = byId.get(id);
    if (option === undefined) {
      throw new HostError("invalid", `There is no option "${id}"; there are ${quoted([...byId.keys()])}`);
    }
    byId.set(id, withValue(option, value));
  }
  return [...byId.values()];
}

function withValue(option: ConfigOption, value: unknown): ConfigOption {
  if (option.type === "boolean") {
    if (typeof value === "boolean") return { ...option, value };
    throw new HostError("invalid", `The option "${option.id}" is either true or false`);
  }
  const values = option.choices.map((choice) => choice.value);
  if (typeof value === "string" && values.includes(value)) return { ...option, value };
  throw new HostError("invalid", `The option "${option.id}" is one of ${quoted(values)}`);
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ") || "none";
}
