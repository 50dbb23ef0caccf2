import type { Frame } from "../../model/frame.ts";
import { sameRun } from "../../model/run.ts";
import type { Limits } from "../../limits.ts";

/** What a frame weighs besides its text, so that many small ones are bounded too. */
const FRAME_UNITS = 64;

/** Frames that can grow by what follows them. */
type Delta = Extract<Frame, { type: "message" | "tool_output" }>;

/** A frame that takes in those that follow it. Its text is joined once, when it leaves. */
interface Growing {
  readonly first: Delta;
  readonly texts: string[];
  length: number;
}

/**
 * The frames that a consumer has not fetched yet. Frames are shared with other queues and never changed: one that grew is a new
 * object.
 */
export class FrameQueue {
  readonly #limits: Limits;
  #frames: Frame[] = [];
  /** What the last frame of `#frames` has grown to. */
  #growing: Growing | undefined;
  #units = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get empty(): boolean {
    return this.#frames.length === 0;
  }

  /** Whether the next delta would be merged. */
  get full(): boolean {
    return this.#frames.length >= this.#limits.queueFrames;
  }

  /** Takes a frame that carries so many units. False where there is no room for it: a lone frame always has. */
  push(frame: Frame, units: number): boolean {
    const count = this.#frames.length;
    if (count > 0 && this.#units + units > this.#limits.queueLength) return false;
    this.#units += units;
    if (count >= this.#limits.queueFrames && this.#merge(frame)) return true;
    this.#units += FRAME_UNITS;
    this.#settle();
    this.#frames.push(frame);
    return true;
  }

  /** Adds the frame that says that the stream ends; there is always room for it. */
  end(frame: Frame): void {
    this.#settle();
    this.#frames.push(frame);
  }

  /** Hands out all frames. */
  drain(): Frame[] {
    this.#settle();
    const frames = this.#frames;
    this.#frames = [];
    this.#units = 0;
    return frames;
  }

  #merge(frame: Frame): boolean {
    if (frame.type !== "message" && frame.type !== "tool_output") return false;
    const growing = this.#growing ?? this.#grow();
    if (growing === undefined || !follows(growing, frame)) return false;
    growing.texts.push(frame.text);
    growing.length += frame.text.length;
    this.#growing = growing;
    return true;
  }

  #grow(): Growing | undefined {
    const first = this.#frames.at(-1);
    if (first === undefined || (first.type !== "message" && first.type !== "tool_output")) return undefined;
    return { first, texts: [first.text], length: first.text.length };
  }

  /** Puts the grown frame in the place of the one that it grew from. */
  #settle(): void {
    const growing = this.#growing;
    if (growing === undefined) return;
    this.#growing = undefined;
    const { first } = growing;
    const text = growing.texts.join("");
    this.#frames[this.#frames.length - 1] = first.type === "message"
      ? { ...first, text }
      : { ...first, text, count: growing.texts.length };
  }
}

/** Whether a frame goes on exactly where the other one has come to. */
function follows({ first, texts, length }: Growing, next: Delta): boolean {
  if (first.type === "message") {
    return next.type === "message" && next.messageId === first.messageId && next.meta === first.meta &&
      next.offset === first.offset + length && sameRun(next.run, first.run);
  }
  return next.type === "tool_output" && next.toolCallId === first.toolCallId &&
    next.stream === first.stream &&
    next.redacted === first.redacted && next.seq === first.seq + texts.length && sameRun(next.run, first.run);
}
