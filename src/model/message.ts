/** Which voice a streamed message belongs to. */
export type Channel = "text" | "thinking";

/** An open message in a snapshot: its text so far is `length` UTF-16 units long and can be read by its row. */
export interface OpenMessage {
  /** The Run that speaks. */
  readonly run: import("./run.ts").Run;
  /** Its id. */
  readonly messageId: string;
  /** What it is. */
  readonly channel: Channel;
  /** How much was said, in UTF-16 units. */
  readonly length: number;
}
