/** Every limit of Gangway: its unit, its reason and what happens past it. */
export interface Limits {
  /** Bytes of one input line. Past it the line is skipped and answered with an error; ACP's own SDK has the same cap. */
  readonly inputLineBytes: number;
  /** Bytes of one line that we write. Text splits, cards are cut, lists page; image results are an exception. */
  readonly outputLineBytes: number;
  /** Bytes of one image in a tool result that goes whole; a larger one becomes a reference. */
  readonly imageBytes: number;
  /** Encoded bytes of what a tool card presents. Past it the text is cut visibly. */
  readonly cardBytes: number;
  /** UTF-16 units that a card keeps of a tool's live output; older text is dropped and counted. */
  readonly cardLength: number;
  /** Pieces of output that a card keeps. */
  readonly cardChunks: number;
  /** Encoded bytes of a tool's raw input, and of its raw output, on its card. A larger one is left out. */
  readonly rawBytes: number;
  /** How many times the bytes that a tool produced its card's snapshots may cost. Past it snapshots wait or show less. */
  readonly cardWireRatio: number;
  /** Card snapshots a second after the first; the last one always goes out. */
  readonly cardSnapshotsPerSecond: number;
  /** UTF-16 units of tool presentation a prompt. Past it the prompt fails with `tool_presentation_capacity`. */
  readonly promptToolLength: number;
  /** Tools a prompt. Past it the prompt fails with `tool_presentation_capacity`. */
  readonly promptTools: number;
  /** UTF-16 units that a reader assembles at a time. */
  readonly assemblyLength: number;
  /** UTF-16 units of row bodies in one page of the transcript. */
  readonly pageLength: number;
  /** UTF-16 units and frames that a Subscription queues. Past both it ends with `slow_consumer`. */
  readonly queueLength: number;
  /** Frames that a Subscription queues. */
  readonly queueFrames: number;
  /** Milliseconds that an Engine waits for a Subscription whose queue is full; past it frames are merged until it has caught up. */
  readonly patienceMs: number;
  /** Bytes waiting in our writer above which an Attachment fetches no more frames. */
  readonly writerHighWater: number;
  /** Milliseconds between checkpoints of open text and output. */
  readonly checkpointMs: number;
  /** UTF-16 units of one tool's output that the Host keeps. Past it the middle is dropped and counted. */
  readonly toolOutputLength: number;
  /** UTF-16 units of unsaved open text of a Session at which the Host checkpoints at once. */
  readonly checkpointLength: number;
  /** Prompts that wait in a Session behind the running one. Past it -32603 `queue_full`. */
  readonly waitingPrompts: number;
  /** Milliseconds that a prompt waits behind a Run whose Stop failed, then `busy`. */
  readonly busyWaitMs: number;
  /** Milliseconds without an opening after which a prompt fails with `host_unavailable`. */
  readonly recoveryMs: number;
  /** Milliseconds of one query after a lost reply, and how many there are before `outcome_unknown`. */
  readonly queryMs: number;
  /** Queries after a lost reply. */
  readonly queryTries: number;
  /** Milliseconds without a reply after which a start counts as lost and the Turn is queried. */
  readonly startMs: number;
  /** Milliseconds without a page of the transcript after which the Subscription counts as lost. */
  readonly readMs: number;
  /** Milliseconds that a cancelled prompt waits for the end of its Run before it is answered all the same. */
  readonly cancelMs: number;
  /** Milliseconds that a close waits for its Stops to be acknowledged. */
  readonly closeMs: number;
  /** Tries of a configuration change that meets other changes. */
  readonly configureTries: number;
  /** Tries of a Stop that stays unacknowledged. */
  readonly stopTries: number;
  /** Milliseconds that the Host leaves an Engine after a stop before it ends the Run by itself. */
  readonly stopGraceMs: number;
  /** Requests of a Client that wait for their answers. Past it a request is answered with -32603. */
  readonly requestsAtHand: number;
  /** Milliseconds that requests at hand get at the end of input. */
  readonly drainMs: number;
  /** Bytes of a linked or embedded file. Past it the prompt is refused, naming the file. */
  readonly artifactBytes: number;
  /** Bytes of one Artifact append. */
  readonly appendBytes: number;
  /** Bytes of a `file:` URI. */
  readonly uriBytes: number;
  /** Bytes of encoded `_meta` that pass through; a larger one is left out. */
  readonly metaBytes: number;
  /**
   * UTF-16 units of the encoded parameters or result of an extension method. A larger one is refused with an error that names the
   * limit. Lines that carry them are the second exception from `outputLineBytes`.
   */
  readonly extensionLength: number;
  /** Requests of an Engine to an editor, and what else waits for that editor to read, in number. Past it they are refused or dropped. */
  readonly extensionsWaiting: number;
  /** UTF-16 units of what waits so. */
  readonly extensionsLength: number;
  /** Bytes of an Engine's own state. */
  readonly engineStateBytes: number;
  /** UTF-16 units of a title; commands and their text. Longer ones are cut. */
  readonly titleLength: number;
  /** Commands of a Session; further ones are left out. */
  readonly commands: number;
  /** UTF-16 units of a command's name, hint and description. */
  readonly commandLength: number;
  /** Sessions in one page of a list. */
  readonly listPage: number;
  /** Milliseconds that a list waits for the Sessions that an agent keeps by itself. Past it it goes without them. */
  readonly archiveMs: number;
  /** Milliseconds that an agent has to tell of a Session that is taken over from it. Past it the request fails. */
  readonly takeoverMs: number;
  /** UTF-16 units of a Session's past that is taken over. Past it the oldest Turns are left out, which is said. */
  readonly takeoverLength: number;
  /** Milliseconds that a database waits for another process's lock. */
  readonly storeTimeoutMs: number;
}

/** The values in force. */
export const LIMITS: Limits = {
  inputLineBytes: 32 * 1024 * 1024,
  outputLineBytes: 48 * 1024,
  imageBytes: 1024 * 1024,
  cardBytes: 40 * 1024,
  cardLength: 64 * 1024,
  cardChunks: 512,
  rawBytes: 8 * 1024,
  cardWireRatio: 3,
  cardSnapshotsPerSecond: 5,
  promptToolLength: 1024 * 1024,
  promptTools: 4096,
  assemblyLength: 16 * 1024 * 1024,
  pageLength: 16 * 1024,
  queueLength: 256 * 1024,
  queueFrames: 64,
  patienceMs: 100,
  writerHighWater: 256 * 1024,
  checkpointMs: 250,
  toolOutputLength: 1024 * 1024,
  checkpointLength: 64 * 1024,
  waitingPrompts: 32,
  busyWaitMs: 5000,
  recoveryMs: 60_000,
  queryMs: 2000,
  queryTries: 5,
  startMs: 10_000,
  readMs: 4000,
  cancelMs: 700,
  closeMs: 1000,
  configureTries: 3,
  stopTries: 5,
  stopGraceMs: 400,
  requestsAtHand: 1024,
  drainMs: 500,
  artifactBytes: 64 * 1024 * 1024,
  appendBytes: 256 * 1024,
  uriBytes: 16 * 1024,
  metaBytes: 16 * 1024,
  extensionLength: 1024 * 1024,
  extensionsWaiting: 256,
  extensionsLength: 4 * 1024 * 1024,
  engineStateBytes: 64 * 1024,
  titleLength: 256,
  commands: 256,
  commandLength: 1024,
  listPage: 100,
  archiveMs: 3000,
  takeoverMs: 120_000,
  takeoverLength: 64 * 1024 * 1024,
  storeTimeoutMs: 5000,
};
