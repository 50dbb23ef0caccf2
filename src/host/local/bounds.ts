import type { Meta } from "../../model/json.ts";
import type { Command, Usage } from "../../model/plan.ts";
import type { Limits } from "../../limits.ts";

/** The first `length` units of a text, well formed. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text.toWellFormed();
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length).toWellFormed();
}

/** An Engine's title in bounds, on one line; undefined where nothing is left of it. */
export function boundTitle(title: unknown, limits: Limits): string | undefined {
  if (typeof title !== "string") return undefined;
  return cut(title.replace(/\s+/g, " ").trim(), limits.titleLength) || undefined;
}

/** An Engine's commands in bounds; entries without a name are left out. */
export function boundCommands(commands: unknown, limits: Limits): Command[] {
  if (!Array.isArray(commands)) return [];
  const bounded: Command[] = [];
  for (const each of commands as readonly Partial<Command>[]) {
    if (bounded.length >= limits.commands) break;
    if (typeof each?.name !== "string" || each.name === "") continue;
    bounded.push({
      name: cut(each.name, limits.commandLength),
      description: cut(typeof each.description === "string" ? each.description : "", limits.commandLength),
      hint: typeof each.hint === "string" ? cut(each.hint, limits.commandLength) : undefined,
      meta: boundMeta(each.meta, limits),
    });
  }
  return bounded;
}

/** Usage with numbers that mean something; undefined for any other. */
export function boundUsage(usage: Usage, limits: Limits): Usage | undefined {
  const fits = Number.isFinite(usage?.used) && usage.used >= 0 && Number.isFinite(usage.size) &&
    usage.size > 0;
  if (!fits) return undefined;
  const { used, size, cost } = usage;
  const known = Number.isFinite(cost?.amount) && typeof cost?.currency === "string";
  const meta = boundMeta(usage.meta, limits);
  return { used, size, ...(known && { cost }), ...(meta !== undefined && { meta }) };
}

/** Metadata within its limit; undefined for what is larger, or no object. */
export function boundMeta(meta: Meta | undefined, limits: Limits): Meta | undefined {
  if (typeof meta !== "object" || meta === null || Array.isArray(meta)) return undefined;
  try {
    const json = JSON.stringify(meta);
    return json.length > 2 && json.length <= limits.metaBytes ? meta : undefined;
  } catch {
    return undefined;
  }
}
