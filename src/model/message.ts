/** Which voice a streamed message belongs to. */
export type Channel = "text" | "thinking";

/** An open message in a snapshot: its text so far is `length` UTF-16 units long and can be read by its row. */
export interface OpenMessage {
  readonly run: import("./run.ts").Run;
  readonly messageId: string;
  readonly channel: Channel;
  readonly length: number;
}
