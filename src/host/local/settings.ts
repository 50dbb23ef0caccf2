import type { Config, ConfigChange, ConfigOption } from "../../model/config.ts";
import type { Meta } from "../../model/json.ts";
import type { SessionMetas } from "../../model/metas.ts";
import type { Command, Usage } from "../../model/plan.ts";
import type { SessionInfo } from "../contract.ts";
import type { SessionStore, Write } from "../store/contract.ts";
import type { Limits } from "../../limits.ts";
import { HostError } from "../errors.ts";
import { withChanges } from "./choices.ts";
import { boundCommands, boundMeta, boundTitle, boundUsage } from "./bounds.ts";
import type { Fanout } from "./fanout.ts";
import type { Journal } from "./journal.ts";

/** What a Session's settings work with. */
export interface SettingsParts {
  readonly store: SessionStore;
  readonly journal: Journal;
  readonly fanout: Fanout;
  readonly limits: Limits;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
  /** Tells those who watch lists. */
  readonly announce: (info: SessionInfo) => void;
}

/** A Session's listing entry: roots, configuration, commands, title and usage. */
export class Settings {
  readonly #parts: SettingsParts;
  #info: SessionInfo;

  constructor(info: SessionInfo, parts: SettingsParts) {
    this.#info = info;
    this.#parts = parts;
  }

  get info(): SessionInfo {
    return this.#info;
  }

  /** Replaces the roots; with `mcpDigest` they are durable when it resolves. */
  async bind(roots: readonly string[], mcpDigest: string): Promise<void> {
    await this.#parts.journal.commit(
      () => [{ op: "info", info: { ...this.#info, roots } }, { op: "mcp", digest: mcpDigest }],
      () => this.#set({ roots }),
    );
  }

  /** Takes what the Engine calls the Session, where it says; durable with `more` when it resolves. */
  async keptAs(keptAs: string | undefined, more: readonly Write[]): Promise<void> {
    if (keptAs === undefined || keptAs === this.#info.keptAs) {
      return await this.#parts.journal.commit(() => more);
    }
    await this.#parts.journal.commit(
      () => [...more, { op: "info", info: { ...this.#info, keptAs } }],
      () => this.#set({ keptAs }),
    );
  }

  /** Makes changes, all or none, once for each `changeId`. Resolves with the configuration that is in force then. */
  async configure(
    request: { expectedRevision: number; changeId: string; changes: readonly ConfigChange[] },
  ): Promise<"changed" | "repeated"> {
    const { changeId, changes, expectedRevision } = request;
    if (await this.#parts.store.change(changeId) !== undefined) return "repeated";
    const { revision, options } = this.#info.config;
    if (expectedRevision !== revision) {
      throw new HostError(
        "revision_conflict",
        "The configuration was changed meanwhile: look at it and try again",
        { data: { revision } },
      );
    }
    await this.#commitConfig(withChanges(options, changes), changeId);
    return "changed";
  }

  /** Takes options that the Engine changed by itself. */
  async replaceOptions(
    options: readonly ConfigOption[],
    metas: Pick<SessionMetas, "options" | "mode"> = {},
  ): Promise<void> {
    const said = [this.#meta("options", metas.options), this.#meta("mode", metas.mode)].includes("new");
    if (JSON.stringify(options) !== JSON.stringify(this.#info.config.options)) {
      return await this.#commitConfig(options);
    }
    if (said) this.#publishConfig(this.#info.config);
  }

  /** Takes the Engine's commands. Saved by and by. */
  commands(wanted: readonly Command[], meta?: Meta): void {
    const commands = boundCommands(wanted, this.#parts.limits);
    this.#meta("commands", meta);
    this.#note({ commands });
    this.#parts.fanout.publish(
      { type: "commands", commands, meta: this.#info.metas?.commands },
      JSON.stringify(commands).length,
    );
  }

  /** Takes a title; an empty one is ignored. */
  title(wanted: string, meta?: Meta): void {
    const title = boundTitle(wanted, this.#parts.limits);
    if (title === undefined) return;
    if (this.#meta("title", meta) === "same" && title === this.#info.title) return;
    this.#note({ title });
    this.#parts.fanout.publish({ type: "title", title, meta: this.#info.metas?.title }, title.length);
  }

  /** Takes usage where its numbers are sound. */
  usage(wanted: Usage): void {
    const usage = boundUsage(wanted, this.#parts.limits);
    if (usage === undefined) return;
    this.#set({ usage }, "quiet");
    this.#parts.journal.noteInfo();
    this.#parts.fanout.publish({ type: "usage", usage }, 0);
  }

  /** Something was done in the Session: it moves to the front of lists. */
  touch(): void {
    this.#note({ updatedAt: Math.max(this.#parts.date(), this.#info.updatedAt) });
  }

  async #commitConfig(options: readonly ConfigOption[], changeId?: string): Promise<void> {
    const config: Config = { revision: this.#info.config.revision + 1, options };
    await this.#parts.journal.commit(
      () => [
        { op: "info", info: { ...this.#info, config } },
        ...(changeId === undefined ? [] : [{ op: "change", changeId, revision: config.revision } as const]),
      ],
      () => this.#set({ config }),
    );
    this.#publishConfig(config);
  }

  #publishConfig(config: Config): void {
    const { options: meta, mode: modeMeta } = this.#info.metas ?? {};
    this.#parts.fanout.publish({ type: "config", config, meta, modeMeta }, JSON.stringify(config).length);
  }

  /** Keeps the metadata that came with something; what comes without any has none. */
  #meta(of: keyof SessionMetas, wanted: Meta | undefined): "new" | "same" {
    const meta = boundMeta(wanted, this.#parts.limits);
    const { [of]: before, ...others } = this.#info.metas ?? {};
    if (JSON.stringify(meta) === JSON.stringify(before)) return "same";
    this.#note({ metas: { ...others, ...(meta !== undefined && { [of]: meta }) } });
    return "new";
  }

  #note(change: Partial<SessionInfo>): void {
    this.#set(change);
    this.#parts.journal.noteInfo();
  }

  #set(change: Partial<SessionInfo>, watchers: "told" | "quiet" = "told"): void {
    this.#info = { ...this.#info, ...change };
    if (watchers === "told") this.#parts.announce(this.#info);
  }
}
