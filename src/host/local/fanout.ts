import type { Frame } from "../../model/frame.ts";
import type { CloseReason, LocalSubscription } from "./subscription.ts";

/** Hands every frame of a Session to its Subscriptions. */
export class Fanout {
  #subscriptions: readonly LocalSubscription[] = [];

  add(subscription: LocalSubscription): void {
    this.#subscriptions = [...this.#subscriptions, subscription];
  }

  delete(subscription: LocalSubscription): void {
    this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
  }

  /** Sends a frame that carries so many UTF-16 units to everybody. It belongs to the Fanout from now on. */
  publish(frame: Frame, units: number): void {
    for (const subscription of this.#subscriptions) subscription.push(frame, units);
  }

  /** A Subscription that is full and worth waiting for. */
  crowded(): LocalSubscription | undefined {
    for (const subscription of this.#subscriptions) if (subscription.crowded) return subscription;
    return undefined;
  }

  /** Sends a frame to the newest Subscription of one connection. False where none can take it. */
  send(connectionId: string, frame: Frame, units: number): boolean {
    const target = this.#subscriptions.findLast((each) => each.connectionId === connectionId);
    return target?.push(frame, units) === true;
  }

  /** Ends the Subscriptions of a connection, or all of them. */
  end(reason: CloseReason, connectionId?: string): void {
    for (const each of this.#subscriptions) {
      if (connectionId === undefined || each.connectionId === connectionId) each.end(reason);
    }
  }
}
