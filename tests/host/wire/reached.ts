import type { RuntimeHost } from "../../../src/host/contract.ts";
import type { LocalHost } from "../../../src/host/local/host.ts";
import { ManualClock, type ReachedHost } from "../local/world.ts";
import { Wire } from "./line.ts";

/** A Host that is reached over the wire by whoever connects. */
export function overTheWire(host: LocalHost): ReachedHost {
  const wire = new Wire({ host, clock: new ManualClock() });
  const describe = (engineId?: string) => host.connect("describing").describe(engineId);
  const known = new Map<string, RuntimeHost>();
  return {
    connect: (connectionId) => {
      const connection = known.get(connectionId) ?? soon(connectionId, describe, wire.connect(connectionId));
      const forget = () => known.delete(connectionId);
      known.set(connectionId, connection);
      return { ...connection, close: () => connection.close().finally(forget) };
    },
    close: async () => {
      await host.close();
      await wire.server.close();
    },
  };
}

/** A connection that can be used before it is there. */
function soon(
  connectionId: string,
  describe: RuntimeHost["describe"],
  coming: Promise<RuntimeHost>,
): RuntimeHost {
  const group = <K extends "sessions" | "turns" | "interactions" | "calls" | "artifacts" | "grants">(
    name: K,
  ): RuntimeHost[K] =>
    new Proxy<RuntimeHost[K]>(Object.create(null), {
      get: (_, operation) => async (...args: readonly unknown[]) => {
        const operations: object = (await coming)[name];
        const act: unknown = Reflect.get(operations, operation);
        if (typeof act !== "function") throw new TypeError(`There is no ${name}.${String(operation)}`);
        return await Reflect.apply(act, operations, args);
      },
    });
  return {
    connectionId,
    describe,
    sessions: group("sessions"),
    turns: group("turns"),
    interactions: group("interactions"),
    calls: group("calls"),
    artifacts: group("artifacts"),
    grants: group("grants"),
    watch: (signal) => {
      const watching = coming.then((host) => host.watch(signal));
      return (async function* () {
        yield* await watching;
      })();
    },
    close: async () => await (await coming).close(),
  };
}
