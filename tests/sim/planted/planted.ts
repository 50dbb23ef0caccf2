import type { RuntimeHost, Subscription } from "../../../src/host/contract.ts";
import type { FrameBatch } from "../../../src/model/frame.ts";
import type { ClientPort } from "../../../src/session/ports.ts";
import type { UserSessions } from "../sim_user.ts";
import type { Update } from "../tape.ts";
import type { Plant, World } from "../world.ts";

/** A fault that is planted to see that it is found. */
export interface Planted {
  /** What is wrong, as a sentence about the program. */
  readonly what: string;
  /** Acceptance ids of the rules that have to notice. */
  readonly ids: string;
  /** Rules of which one has to name it. */
  readonly rules: readonly string[];
  /** Makes it anew for each world. */
  readonly plant: () => Plant;
}

type Parts<K extends "sessions" | "turns" | "interactions"> = { readonly [P in K]?: Partial<RuntimeHost[P]> };

/** A Host of which some operations are others. */
export function hostWith(
  host: RuntimeHost,
  parts: Parts<"sessions" | "turns" | "interactions">,
): RuntimeHost {
  return {
    connectionId: host.connectionId,
    describe: (engineId) => host.describe(engineId),
    sessions: { ...host.sessions, ...parts.sessions },
    turns: { ...host.turns, ...parts.turns },
    interactions: { ...host.interactions, ...parts.interactions },
    calls: host.calls,
    artifacts: host.artifacts,
    grants: host.grants,
    watch: (signal) => host.watch(signal),
    close: () => host.close(),
  };
}

/** A Client of which some members are others. */
export function clientWith(client: ClientPort, parts: Partial<ClientPort>): ClientPort {
  return {
    abilities: client.abilities,
    update: (sessionId, update) => client.update(sessionId, update),
    room: () => client.room(),
    flushed: () => client.flushed(),
    notify: (method, params) => client.notify(method, params),
    request: (method, params, signal) => client.request(method, params, signal),
    ...parts,
  };
}

/** Sessions that answer prompts otherwise. */
export function sessionsWith(sessions: UserSessions, parts: Partial<UserSessions>): UserSessions {
  return {
    create: (request) => sessions.create(request),
    list: (request) => sessions.list(request),
    load: (sessionId, place) => sessions.load(sessionId, place),
    resume: (sessionId, place) => sessions.resume(sessionId, place),
    remove: (sessionId) => sessions.remove(sessionId),
    prompt: (sessionId, draft, signal) => sessions.prompt(sessionId, draft, signal),
    cancel: (sessionId) => sessions.cancel(sessionId),
    configure: (sessionId, change) => sessions.configure(sessionId, change),
    close: (sessionId) => sessions.close(sessionId),
    announce: (sessionId) => sessions.announce(sessionId),
    shutdown: () => sessions.shutdown(),
    ...parts,
  };
}

/** A Subscription that hands on other batches, and closes otherwise. */
export function subscriptionWith(
  subscription: Subscription,
  parts: {
    readonly next?: (batch: FrameBatch) => FrameBatch;
    readonly read?: Subscription["read"];
    readonly close?: () => Promise<void>;
  },
): Subscription {
  return {
    snapshot: subscription.snapshot,
    next: async () => {
      const batch = await subscription.next();
      return parts.next?.(batch) ?? batch;
    },
    read: parts.read ?? ((request) => subscription.read(request)),
    close: parts.close ?? (() => subscription.close()),
  };
}

/** Changes updates on their way to the Client. `send` sends more. */
export function updates(
  change: (update: Update, send: (update: Update) => void, world: World) => boolean,
): Plant {
  return {
    client: (client, world) =>
      clientWith(client, {
        update: (sessionId, encoded) => {
          const update = JSON.parse(encoded) as Update;
          const send = (other: Update) => client.update(sessionId, JSON.stringify(other));
          if (change(update, send, world)) client.update(sessionId, encoded);
        },
      }),
  };
}
