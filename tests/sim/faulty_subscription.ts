import type { ReadPage, ReadRequest, Subscription } from "../../src/host/contract.ts";
import type { Frame, FrameBatch, Snapshot } from "../../src/model/frame.ts";
import { streamFateOf } from "./fault_plan.ts";
import { type Link, type LinkParts, unavailable } from "./link.ts";
import type { ReachedHost } from "./host_process.ts";

/** Frames that may be seen twice; a notice has no identity of its own, and a stream closes once. */
const ONCE: ReadonlySet<Frame["type"]> = new Set(["notice", "compaction", "closed"]);

/** A Subscription that is cut, evicted, skips numbers, splits and repeats what it brings, and reads in odd pages or not at all. */
export class FaultySubscription implements Subscription {
  readonly snapshot: Snapshot;
  readonly sessionId: string;
  /** Called once, when its owner closes it. */
  onClose: () => void = () => {};
  readonly #real: Subscription;
  readonly #parts: LinkParts;
  readonly #link: Link;
  readonly #life: ReachedHost | undefined;
  readonly #closed = Promise.withResolvers<void>();
  /** Frames that were fetched from the Host and not handed on yet. */
  #waiting: Frame[] = [];
  #number = 1;
  /** `cut`: for its owner the stream is over; `gap`: something was lost that the next number will tell. */
  #state: "open" | "gap" | "cut" | "closed" = "open";

  constructor(real: Subscription, sessionId: string, parts: LinkParts, link: Link) {
    this.#real = real;
    this.snapshot = real.snapshot;
    this.sessionId = sessionId;
    this.#parts = parts;
    this.#link = link;
    this.#life = parts.process.life;
  }

  async next(): Promise<FrameBatch> {
    const { random, clock, habits, tape, connectionId: by } = this.#parts;
    const { split, again, slow, slowMs } = habits();
    if (this.#state === "closed" || this.#state === "cut") return { first: this.#number, frames: [] };
    if (this.#waiting.length === 0) {
      if (random.chance(slow / 4)) {
        await Promise.race([clock.sleep(random.between(0, slowMs)), this.#closed.promise]);
      }
      const fetched = await this.#fetch();
      if (fetched === undefined) return this.#end();
      this.#waiting = [...fetched];
    }
    const count = random.chance(split) ? random.between(1, this.#waiting.length) : this.#waiting.length;
    const frames = this.#waiting.splice(0, count);
    const last = frames.at(-1);
    if (last !== undefined && !ONCE.has(last.type) && random.chance(again)) frames.push(last);
    const batch = { first: this.#number, frames };
    this.#number += frames.length;
    for (const frame of frames) tape.add({ kind: "frame", by, sessionId: this.sessionId, frame });
    if (frames.some((frame) => frame.type === "closed")) this.#state = "cut";
    return batch;
  }

  read(request: ReadRequest): Promise<ReadPage> {
    const { random, habits } = this.#parts;
    const { oddPages } = habits();
    if (this.#state === "closed" || this.#state === "cut") return Promise.reject(unavailable("answered"));
    const maxLength = random.chance(oddPages) ? random.between(1, 60) : request.maxLength;
    const { turnId = "*", after, through = "" } = request;
    return this.#link.send(
      {
        name: "read",
        sessionId: this.sessionId,
        detail: { turnId, after, through, held: request.held?.length ?? 0 },
        once: false,
      },
      async () => {
        if (random.chance(habits().read)) {
          if (random.chance(0.5)) throw unavailable(random.pick(["answered", "unknown"]));
          await this.#parts.clock.sleep(random.between(0, 400));
        }
        if (!this.#alive) throw unavailable("unknown");
        return await this.#real.read({ ...request, maxLength });
      },
    );
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { tape, connectionId: by } = this.#parts;
    tape.add({
      kind: "op",
      by,
      id: tape.id(),
      name: "closeSubscription",
      sessionId: this.sessionId,
      detail: {},
    });
    this.#closed.resolve();
    this.onClose();
    this.#lose(this.#waiting.splice(0));
    if (this.#alive) await this.#real.close();
  }

  get #alive(): boolean {
    return this.#life !== undefined && this.#parts.process.life === this.#life;
  }

  /** The next frames of the Host; undefined where there are none any more. */
  async #fetch(): Promise<readonly Frame[] | undefined> {
    const { random, habits, clock, tape, connectionId: by } = this.#parts;
    for (;;) {
      const impatient = this.#state === "gap" ? clock.sleep(random.between(0, 500)) : undefined;
      const next = this.#real.next();
      const batch = await Promise.race([
        next,
        this.#closed.promise,
        this.#life?.over.promise,
        ...(impatient === undefined ? [] : [impatient]),
      ]);
      // What comes in the moment of a close is lost.
      if (batch === undefined) next.then(({ frames }) => this.#lose(frames), () => {});
      // What a killed process still had in its queue never arrives.
      if (batch === undefined || !this.#alive) return undefined;
      if (batch.frames.length === 0) return undefined;
      const fate = streamFateOf(random, habits());
      if (fate !== "pass") tape.add({ kind: "fault", by, what: `stream ${fate} ${this.sessionId}` });
      switch (fate) {
        case "pass":
          return batch.frames;
        case "gap":
          this.#lose(batch.frames);
          this.#number += batch.frames.length;
          this.#state = "gap";
          continue;
        case "ended":
          this.#lose(batch.frames);
          return undefined;
        default: {
          await this.#real.close();
          const count = random.between(0, batch.frames.length - 1);
          const seen = batch.frames.slice(0, count);
          this.#lose(batch.frames.slice(count));
          return [...seen.filter((frame) => frame.type !== "closed"), { type: "closed", reason: fate }];
        }
      }
    }
  }

  /** Frames that never arrive. A call to the editor is never replayed: its sender learns that it was lost. */
  #lose(frames: readonly Frame[]): void {
    const { connectionId } = this.#parts;
    if (this.#life === undefined || !this.#alive) return;
    const { calls } = this.#life.reach(connectionId);
    for (const frame of frames) {
      if (frame.type !== "call") continue;
      const { callId } = frame.call;
      calls.fail({ sessionId: this.sessionId, callId, code: -32603, message: "lost" }).catch(() => {});
    }
  }

  /** The stream breaks off: no more frames come, whatever was left. */
  #end(): FrameBatch {
    if (this.#state !== "closed") {
      this.#state = "cut";
      if (this.#alive) this.#real.close().catch(() => {});
    }
    return { first: this.#number, frames: [] };
  }
}
