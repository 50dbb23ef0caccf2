import type { RuntimeHost } from "../../../src/host/contract.ts";

/** Operations that are watched, as `sessions.open`. */
export type Watched = (operation: string, request: unknown) => Promise<void> | void;

/** A Host that tells of each operation before it does it. */
export function watched(host: RuntimeHost, tell: Watched): RuntimeHost {
  const group = <K extends "sessions" | "turns" | "interactions" | "calls" | "artifacts" | "grants">(
    name: K,
  ): RuntimeHost[K] => {
    const operations: object = host[name];
    return new Proxy<RuntimeHost[K]>(Object.create(null), {
      get: (_, operation) => {
        const act: unknown = Reflect.get(operations, operation);
        if (typeof act !== "function") return undefined;
        return async (...args: readonly unknown[]) => {
          await tell(`${name}.${String(operation)}`, args[0]);
          return await Reflect.apply(act, operations, args);
        };
      },
    });
  };
  return {
    connectionId: host.connectionId,
    describe: (engineId) => host.describe(engineId),
    sessions: group("sessions"),
    turns: group("turns"),
    interactions: group("interactions"),
    calls: group("calls"),
    artifacts: group("artifacts"),
    grants: group("grants"),
    watch: (signal) => host.watch(signal),
    close: async () => {
      await tell("close", undefined);
      await host.close();
    },
  };
}
