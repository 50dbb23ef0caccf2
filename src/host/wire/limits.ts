/** Every limit of the wire: its unit, its reason and what happens past it. The Host tells its own in the welcome. */
export interface WireLimits {
  /** Bytes of one line. As much as an editor's longest line, and room for what stands around it. */
  readonly lineBytes: number;
  /** Bytes of a greeting. A stranger gets no larger buffer. */
  readonly helloBytes: number;
  /** Milliseconds from the beginning of a stream to its greeting. Past it the Host cuts the stream. */
  readonly helloMs: number;
  /** Milliseconds that a client's attempt may take from dialing to the welcome. Past it the next one follows. */
  readonly dialMs: number;
  /** Requests of a connection that are at work in the Host. A client keeps further ones back; the Host answers `capacity`. */
  readonly requests: number;
  /** Streams (Subscriptions and watches) of a connection. Past it opening one is answered with `capacity`. */
  readonly streams: number;
  /**
   * UTF-16 units of lines of one stream that were sent and not taken by the consumer. Past it nothing is fetched for the stream, so that
   * the Host's own queue fills up and evicts. These lines are what a connection that comes back is sent again.
   */
  readonly windowLength: number;
  /** UTF-16 units that wait to be written. Past it nothing more is read from the peer or fetched for it. */
  readonly outboxLength: number;
  /** UTF-16 units that leave in one write. */
  readonly blockLength: number;
  /** UTF-16 units of a page of the transcript. A larger page is cut to it. */
  readonly pageLength: number;
  /** Bytes of an Artifact in one reply. More is asked for in parts. */
  readonly partBytes: number;
  /** Milliseconds without a byte from the other side after which it is asked for one. */
  readonly quietMs: number;
  /** Milliseconds without a byte, or with a write that is not taken, after which the stream is cut. */
  readonly deadMs: number;
  /** Milliseconds that the Host keeps what a lost connection holds, and that a client hopes for it. */
  readonly graceMs: number;
  /** Lost connections that the Host keeps. Past it the one that was lost first is released. */
  readonly graceConnections: number;
  /** Milliseconds that a request waits for a stream to leave on. Past it it fails as `not_sent`. */
  readonly unsentMs: number;
  /** Milliseconds from a request's leaving to its answer. Past it it fails as `unknown`. */
  readonly requestMs: number;
  /** The same for a request about a Session that an agent may keep: longer than a Host waits for the agent. */
  readonly agentMs: number;
  /** Milliseconds before the second attempt to dial; doubled with each further one, and varied by half. */
  readonly backoffMs: number;
  /** Milliseconds between two attempts at most. */
  readonly backoffMostMs: number;
  /** Milliseconds that a stream has to have lasted for the next attempt to follow at once. */
  readonly steadyMs: number;
  /** Milliseconds that a close waits for the other side. */
  readonly closeMs: number;
}

/** The values in force. */
export const WIRE_LIMITS: WireLimits = {
  lineBytes: 33 * 1024 * 1024,
  helloBytes: 64 * 1024,
  helloMs: 5000,
  dialMs: 10_000,
  requests: 256,
  streams: 1024,
  windowLength: 128 * 1024,
  outboxLength: 1024 * 1024,
  blockLength: 256 * 1024,
  pageLength: 64 * 1024,
  partBytes: 128 * 1024,
  quietMs: 10_000,
  deadMs: 25_000,
  graceMs: 60_000,
  graceConnections: 64,
  unsentMs: 5000,
  requestMs: 15_000,
  agentMs: 135_000,
  backoffMs: 50,
  backoffMostMs: 2000,
  steadyMs: 1000,
  closeMs: 1000,
};
