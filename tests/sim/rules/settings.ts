import type { Config } from "../../../src/model/config.ts";
import type { Entry, Update } from "../tape.ts";

type Values = ReadonlyMap<string, string>;

/** Settings of Sessions: what connections hear of them, and what editors are told. */
export class Settings {
  readonly #heard = new Map<string, Values>();
  readonly #told = new Map<string, Values>();

  /** Takes the next entry. */
  take(entry: Entry): void {
    switch (entry.kind) {
      case "snapshot":
        return void this.#heard.set(keyOf(entry), valuesOf(entry.snapshot.config));
      case "frame":
        if (entry.frame.type === "config") this.#heard.set(keyOf(entry), valuesOf(entry.frame.config));
        return;
      case "told":
        return void this.#told.set(keyOf(entry), valuesOf(entry.config));
      case "update":
        if (entry.update.sessionUpdate === "config_option_update") {
          this.#told.set(keyOf(entry), shownIn(entry.update));
        }
        return;
      default:
    }
  }

  /** Settings of which an editor shows other values than hold. */
  wrong(by: string, sessionId: string): string[] {
    const key = keyOf({ by, sessionId });
    const heard = this.#heard.get(key);
    // Before its first prompt a Session is not observed.
    if (heard === undefined) return [];
    return [...this.#told.get(key) ?? []].filter(([id, value]) => heard.get(id) !== value)
      .map(([id, value]) => `setting ${id} is shown as ${value}, it is ${heard.get(id)}`);
  }
}

function keyOf({ by, sessionId }: { readonly by: string; readonly sessionId: string }): string {
  return `${by} ${sessionId}`;
}

function valuesOf({ options }: Config): Values {
  return new Map(options.map(({ id, value }) => [id, String(value)]));
}

function shownIn({ configOptions }: Update): Values {
  const options = configOptions as readonly { readonly id: string; readonly currentValue: unknown }[];
  return new Map(options.map(({ id, currentValue }) => [id, String(currentValue)]));
}
