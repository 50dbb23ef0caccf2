import type { AvailableCommand, SessionConfigOption } from "@agentclientprotocol/sdk";
import type { Command, Usage } from "../model/plan.ts";
import type { EncodedUpdate, Shows } from "./step.ts";
import type { Config } from "../model/config.ts";
import type { Frame } from "../model/frame.ts";
import type { Meta } from "../model/json.ts";
import { compactionUpdates } from "./compaction.ts";
import { noticeUpdate } from "./notice.ts";
import { configOptionsOf, modeOption } from "./config.ts";
import { fits, metaMember, oneLine, UPDATE_BYTES } from "./encode.ts";
import { LIMITS } from "../limits.ts";
import { redactSecrets } from "../model/redact.ts";

/**
 * What a frame about the Session as a whole means for the Client: configuration, commands, title, usage, and notices and
 * compactions that belong to no Run. Any other frame gives nothing: it is for {@linkcode TurnProjection}.
 */
export function sessionUpdates(frame: Frame, shows: Shows): readonly EncodedUpdate[] {
  switch (frame.type) {
    case "config":
      return configUpdates(frame.config, shows, frame.meta, frame.modeMeta);
    case "commands":
      return commandsUpdate(frame.commands, frame.meta);
    case "title":
      return titleUpdate(frame.title, frame.meta);
    case "usage":
      return usageUpdate(frame.usage, frame.meta);
    case "notice":
      return frame.run === undefined && shows.notices ? [noticeUpdate(frame, redactSecrets, frame.meta)] : [];
    case "compaction":
      return frame.run === undefined && shows.compaction ? compactionUpdates(frame, redactSecrets) : [];
    default:
      return [];
  }
}

/** The full list of options and, where the Session has modes, the current one: always both, so that they agree. */
export function configUpdates(
  config: Config,
  shows: { readonly booleanOptions: boolean },
  meta?: Meta,
  modeMeta?: Meta,
): readonly EncodedUpdate[] {
  const updates = [optionsUpdate(configOptionsOf(config, { booleans: shows.booleanOptions }), meta)];
  const mode = modeOption(config);
  if (mode !== undefined) {
    updates.push(
      `{"sessionUpdate":"current_mode_update","currentModeId":${JSON.stringify(mode.value)}${
        metaMember(modeMeta)
      }}`,
    );
  }
  return updates;
}

/** The options; where they would not fit into a line, first without descriptions, then with short names. */
function optionsUpdate(options: SessionConfigOption[], meta: Meta | undefined): EncodedUpdate {
  const plain = (text: string, length: number) => oneLine(text, length);
  let shown = options;
  for (const length of [LIMITS.titleLength, 64, 16]) {
    const json = `{"sessionUpdate":"config_option_update","configOptions":${JSON.stringify(shown)}${
      metaMember(meta)
    }}`;
    if (fits(json, UPDATE_BYTES)) return json;
    shown = options.map((option) => {
      const { description: _, ...rest } = option;
      if (rest.type !== "select") return { ...rest, name: plain(rest.name, length) };
      const choices = rest.options.flatMap((choice) => "value" in choice ? [choice] : choice.options);
      return {
        ...rest,
        name: plain(rest.name, length),
        options: choices.map((choice) => ({ value: choice.value, name: plain(choice.name, length) })),
      };
    });
  }
  return `{"sessionUpdate":"config_option_update","configOptions":${JSON.stringify(shown)}}`;
}

/** The commands, bounded: at most {@linkcode LIMITS.commands}, descriptions cut until all fit into one line. */
export function commandsUpdate(commands: readonly Command[], meta?: Meta): readonly EncodedUpdate[] {
  const named = commands.slice(0, LIMITS.commands).flatMap((command) => {
    const name = command.name.replace(/^\/+/, "");
    // A name that is no line of words cannot be typed, so it is none.
    return name.length <= LIMITS.titleLength && /^\S+( \S+)*$/.test(name) ? [{ ...command, name }] : [];
  });
  const extra = metaMember(meta);
  const encode = (count: number, length: number): EncodedUpdate => {
    const available: AvailableCommand[] = named.slice(0, count).map(({ name, description, hint, meta }) => ({
      name,
      description: oneLine(description, length),
      ...(hint === undefined ? {} : { input: { hint: oneLine(hint, length) } }),
      ...(meta !== undefined && length >= LIMITS.commandLength && { _meta: { ...meta } }),
    }));
    return `{"sessionUpdate":"available_commands_update","availableCommands":${
      JSON.stringify(available)
    }${extra}}`;
  };
  for (const length of [LIMITS.commandLength, 256, 64, 16]) {
    const update = encode(named.length, length);
    if (fits(update, UPDATE_BYTES)) return [update];
  }
  let count = named.length;
  let update = "";
  do update = encode(count = Math.floor(count / 2), 16); while (count > 0 && !fits(update, UPDATE_BYTES));
  return [update];
}

/** The Session's title as one bounded line; an empty one clears it. */
export function titleUpdate(title: string, meta?: Meta): readonly EncodedUpdate[] {
  const line = oneLine(title, LIMITS.titleLength);
  return [
    `{"sessionUpdate":"session_info_update","title":${line === "" ? "null" : JSON.stringify(line)}${
      metaMember(meta)
    }}`,
  ];
}

/** Tokens in the context. Nothing where the window is unknown or the figures contradict each other. */
export function usageUpdate(usage: Usage, meta?: Meta): readonly EncodedUpdate[] {
  const { used, size, cost } = usage;
  const extra = metaMember(meta ?? usage.meta);
  if (!Number.isSafeInteger(used) || !Number.isSafeInteger(size)) return [];
  if (size <= 0 || used < 0 || used > size) return [];
  const spent = cost !== undefined && Number.isFinite(cost.amount)
    ? `,"cost":${JSON.stringify({ amount: cost.amount, currency: cost.currency })}`
    : "";
  return [`{"sessionUpdate":"usage_update","used":${used},"size":${size}${spent}${extra}}`];
}
