/** Which voice a streamed message belongs to. */
export type Channel = "text" | "thinking";

/** Stands between the id that an Engine gave and the number of a part. No id of a message has it otherwise. */
const PART = "\u001f";

/**
 * The id of part `number` of a message, the message's own for part 0. Parts are kept as messages of their own and shown as one: pictures,
 * or text with other metadata, stand between them.
 */
export function partId(messageId: string, number: number): string {
  return number === 0 ? messageId : `${messageId}${PART}${number}`;
}

/** The message that a part belongs to. */
export function messageIdOf(partId: string): string {
  const at = partId.indexOf(PART);
  return at < 0 ? partId : partId.slice(0, at);
}

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
