import type { Endpoint } from "../../host/wire/transport/endpoint.ts";

/** A Session that a Host holds. */
export interface HeldSession {
  readonly sessionId: string;
  readonly title?: string;
  readonly cwd: string;
  /** How many editors use it. */
  readonly editors: number;
  /** Runs at work. */
  readonly running: number;
  /** Runs that wait for a person's answer. */
  readonly waiting: number;
}

/** What a Host in a process of its own tells of itself. */
export interface HostStatus {
  readonly version: string;
  readonly pid: number;
  /** The state folder. */
  readonly folder: string;
  readonly endpoint: Endpoint;
  /** Seconds since it was started. */
  readonly uptime: number;
  /** Seconds without work after which it leaves; absent where it stays. */
  readonly idle?: number;
  /** Editors and terminals that are connected. */
  readonly connections: number;
  readonly sessions: readonly HeldSession[];
}

/** What a connection is for, in its first line. */
export type Wish =
  /** The wire follows. */
  | { readonly want: "host" }
  | { readonly want: "status" }
  /** `when`: `idle` leaves a Host alone that has work or editors; a Host that works is drained by `now`. */
  | { readonly want: "stop"; readonly when: "now" | "idle" };

/** A Host's answer to a {@linkcode Wish}, in one line. */
export type WishAnswer =
  | { readonly ok: true; readonly status: HostStatus }
  | { readonly ok: false; readonly reason: "busy" | "stopping" | "unknown"; readonly message: string };

/** Whether a Host has nothing to do and nobody to do it for. */
export function isIdle({ connections, sessions }: HostStatus): boolean {
  return connections === 0 && sessions.every(({ running, waiting }) => running + waiting === 0);
}

/** Reads a wish; undefined for what is none. */
export function wishOf(value: unknown): Wish | undefined {
  if (typeof value !== "object" || value === null || !("gangway" in value) || value.gangway !== 1) {
    return undefined;
  }
  if (!("want" in value)) return undefined;
  if (value.want === "host" || value.want === "status") return { want: value.want };
  if (value.want !== "stop") return undefined;
  return { want: "stop", when: "when" in value && value.when === "idle" ? "idle" : "now" };
}

/** A wish as it is written. */
export function encodeWish(wish: Wish): unknown {
  return { gangway: 1, ...wish };
}

/** Reads an answer; undefined for what is none. */
export function answerOf(value: unknown): WishAnswer | undefined {
  if (typeof value !== "object" || value === null || !("ok" in value)) return undefined;
  // What it holds comes from the Host of our own user, which nothing else can be at the end of this stream.
  if (value.ok === true && "status" in value) return value as WishAnswer;
  return value.ok === false && "message" in value ? value as WishAnswer : undefined;
}
