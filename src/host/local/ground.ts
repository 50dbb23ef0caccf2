import type { Json, Meta } from "../../model/json.ts";
import type { McpServer } from "../contract.ts";
import type { Limits } from "../../limits.ts";
import { HostError } from "../errors.ts";
import type { Settings } from "./settings.ts";
import type { EngineGround } from "./supervisor.ts";
import type { Uploads } from "./uploads.ts";

/** What a connection gives an Engine's Session to work with, besides the roots. */
export interface Binding {
  readonly mcpServers: readonly McpServer[];
  /** What came with the Session's creation, load or resume. */
  readonly meta?: Meta;
}

/** What a Session's {@linkcode EngineGround} is made of. */
export interface GroundParts {
  readonly settings: Settings;
  readonly uploads: Uploads;
  readonly limits: Limits;
  /** What the Engine kept in an earlier process. */
  readonly restored: Json | undefined;
  readonly binding: () => Binding;
  readonly history: EngineGround["history"];
  readonly configured: EngineGround["configured"];
  readonly elicited: (elicitationId: string) => void;
  readonly beside: EngineGround["beside"];
}

const DONE: Promise<void> = Promise.resolve();

/** Gives the ground for an Engine's Session as the Session is bound at that moment. */
export function engineGround(parts: GroundParts): () => EngineGround {
  const { settings, uploads, limits, binding, history, configured, elicited, beside } = parts;
  let kept = parts.restored;
  return () => ({
    cwd: settings.info.cwd,
    roots: settings.info.roots,
    ...binding(),
    restored: kept,
    config: () => settings.info.config,
    readArtifact: ({ artifactId }, offset, length) => uploads.read(artifactId, offset, length),
    history,
    state: async (value, keptAs) => {
      const encoded = JSON.stringify(value) ?? "null";
      const bytes = new TextEncoder().encode(encoded).length;
      if (bytes > limits.engineStateBytes) {
        throw new HostError(
          "capacity",
          `The agent's state has ${bytes} bytes; at most ${limits.engineStateBytes} are kept`,
        );
      }
      const copy: Json = JSON.parse(encoded);
      await settings.keptAs(keptAs, [{ op: "engine_state", value: copy }]);
      kept = copy;
    },
    commands: (commands, meta) => {
      settings.commands(commands, meta);
      return DONE;
    },
    usage: (usage) => {
      settings.usage(usage);
      return DONE;
    },
    title: (title, meta) => {
      settings.title(title, meta);
      return DONE;
    },
    configured,
    elicited: (elicitationId) => {
      elicited(elicitationId);
      return DONE;
    },
    beside,
  });
}
