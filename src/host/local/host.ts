import type { Clock, Ids } from "../../model/clock.ts";
import type { Engine, ExtensionOutlet } from "../../engine/contract.ts";
import type { Log } from "../../model/log.ts";
import type { RuntimeHost } from "../contract.ts";
import type { Store } from "../store/contract.ts";
import { LIMITS, type Limits } from "../../limits.ts";
import { HostError } from "../errors.ts";
import type { Extensions } from "./extensions.ts";
import type { SessionActivity } from "./activity.ts";
import { Catalogue } from "./catalogue.ts";
import { LocalConnection } from "./connection.ts";
import { Pace } from "./pace.ts";
import type { Registry } from "./registry.ts";
import { Watchers } from "./watch.ts";

/** What a {@linkcode LocalHost} is made of. It owns the store and the Engines from then on and closes them. */
export interface LocalHostOptions {
  /** Opens the store. Called when an operation first needs it, and again after it failed. */
  readonly store: () => Promise<Store>;
  /** Every Engine that Sessions may name. */
  readonly engines: readonly Engine[];
  /**
   * Engines beside those, looked up by id whenever one is needed. They stay the caller's: it closes them, after the Host, and connects
   * them to the Host's outlet.
   */
  readonly engineOf?: (engineId: string) => Engine | undefined;
  /** The `engineId` of Sessions that name none. */
  readonly defaultEngine: string;
  /** Time. */
  readonly clock: Clock;
  /** Where new ids come from. */
  readonly ids: Ids;
  /** Where diagnostics go. */
  readonly log: Log;
  /** The limits in force; those of `limits.ts` where absent. */
  readonly limits?: Limits;
  /** The date in milliseconds since the epoch. */
  readonly date?: () => number;
}

/**
 * The embedded Host: durable Sessions over a store, with Engines that work in this process. One for any number of connections.
 *
 * @example
 * ```ts ignore
 * const host = new LocalHost({ store: openStore, engines: [workbench()], defaultEngine: "workbench", clock, ids, log });
 * const connection = host.connect("editor-1");
 * ```
 */
export class LocalHost {
  readonly #options: LocalHostOptions;
  readonly #catalogue: Catalogue;
  readonly #watchers = new Watchers();
  readonly #connections = new Set<LocalConnection>();
  readonly #hostEpoch: string;
  readonly #date: () => number;
  #registry: Promise<Registry> | undefined;
  #open: Registry | undefined;
  #extensions: Promise<Extensions> | undefined;
  #closing: Promise<void> | undefined;

  /** Makes a Host. Opens nothing yet. */
  constructor(options: LocalHostOptions) {
    this.#options = options;
    this.#date = options.date ?? Date.now;
    const { engines, engineOf, defaultEngine } = options;
    this.#catalogue = new Catalogue(engines, defaultEngine, this.#date, engineOf);
    this.#hostEpoch = options.ids.next();
  }

  /**
   * Makes a connection. Does no I/O. The Sessions that the Engine `engineId` keeps by itself are listed on it; those of the default one
   * where it is absent.
   */
  connect(connectionId: string, engineId: string = this.#options.defaultEngine): RuntimeHost {
    const { limits = LIMITS } = this.#options;
    const connection = new LocalConnection(connectionId, {
      registry: () => this.#opened(),
      opened: async () => await this.#registry?.catch(() => undefined),
      catalogue: this.#catalogue,
      engineId,
      watchers: this.#watchers,
      extensions: () => this.#extensions ??= this.#extend(),
      listPage: limits.listPage,
      metaLength: limits.metaBytes,
      closed: (self) => this.#connections.delete(self),
    });
    this.#connections.add(connection);
    return connection;
  }

  /** What goes on: the Sessions that are held now. Opens nothing. */
  get activity(): readonly SessionActivity[] {
    return this.#open?.activity ?? [];
  }

  /**
   * Ends every Run as interrupted, then lets go of Sessions, Engines and the store. No Engine holds it up for longer than
   * `limits.drainMs`. May be called twice.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Where Engines beside those that the Host was given put what they say beyond Sessions and Turns. */
  get outlet(): ExtensionOutlet {
    const extensions = () => this.#extensions ??= this.#extend();
    return {
      call: async (message, signal) => await (await extensions()).outlet.call(message, signal),
      notify: (message) => void extensions().then(({ outlet }) => outlet.notify(message)),
    };
  }

  async #extend(): Promise<Extensions> {
    const { Extensions } = await import("./extensions.ts");
    const { engines, limits = LIMITS, log } = this.#options;
    return new Extensions({
      engines,
      limits,
      log,
      viewer: async (sessionId) => (await this.#registry?.catch(() => undefined))?.viewer(sessionId),
    });
  }

  #opened(): Promise<Registry> {
    if (this.#closing !== undefined) {
      return Promise.reject(
        new HostError("unavailable", "The Host is shutting down", { dispatch: "not_sent" }),
      );
    }
    this.#registry ??= this.#make().catch((error) => {
      this.#registry = undefined;
      throw error;
    });
    return this.#registry;
  }

  async #make(): Promise<Registry> {
    const { clock, ids, log, limits = LIMITS } = this.#options;
    // Everything that Sessions need is loaded with the first of them, so that a handshake comes sooner.
    const [store, { Registry }] = await Promise.all([this.#store(), import("./registry.ts")]);
    return this.#open = new Registry({
      store,
      engineOf: (engineId) => this.#catalogue.find(engineId),
      parts: {
        storeId: store.storeId,
        hostEpoch: this.#hostEpoch,
        clock,
        ids,
        log,
        limits,
        pace: new Pace(clock),
        date: this.#date,
        announce: (info) => this.#watchers.announce({ type: "changed", info }),
      },
    });
  }

  async #store(): Promise<Store> {
    try {
      return await this.#options.store();
    } catch (cause) {
      if (cause instanceof HostError) throw cause;
      throw new HostError("unavailable", "Cannot open the store of Sessions", {
        dispatch: "not_sent",
        cause,
      });
    }
  }

  async #close(): Promise<void> {
    const registry = await this.#registry?.catch(() => undefined);
    await registry?.close();
    for (const connection of this.#connections) await connection.close();
    await this.#closeEngines();
    await registry?.store.close();
  }

  async #closeEngines(): Promise<void> {
    const { engines, clock, log, limits = LIMITS } = this.#options;
    const waited = new AbortController();
    const closed = Promise.allSettled(engines.map((engine) => engine.close())).then((outcomes) => {
      waited.abort();
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") {
          log.warn("An agent did not close", { error: String(outcome.reason) });
        }
      }
    });
    await Promise.race([closed, clock.sleep(limits.drainMs, waited.signal).catch(() => {})]);
  }
}
