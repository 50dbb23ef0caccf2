import type { ClientHello } from "../model/extension.ts";
import type { Json, JsonObject } from "../model/json.ts";

/**
 * A `session/update`'s `update` value, already encoded as JSON and measured by the projection: its line stays under
 * {@linkcode LIMITS.outputLineBytes}.
 */
export type EncodedUpdate = string;

/** What the connected Client said it can do. Everything that it left out is false. */
export interface ClientAbilities {
  /** `fs/read_text_file`. */
  readonly readTextFile: boolean;
  /** `fs/write_text_file`. */
  readonly writeTextFile: boolean;
  /** All of `terminal/*`. */
  readonly terminal: boolean;
  /** Forms by `elicitation/create`. */
  readonly forms: boolean;
  /** Pages by `elicitation/create`; not where absent. */
  readonly urls?: boolean;
  /** Options that are on or off. */
  readonly booleanOptions: boolean;
  /** Notices. */
  readonly notices: boolean;
  /** Progress of compaction. */
  readonly compaction: boolean;
  /** What it said of itself beyond that, for an Engine that passes it on. */
  readonly hello?: ClientHello;
}

/** The connection to the Client. Order on the wire is the order of the calls, `update` and `request` together. */
export interface ClientPort {
  /** What the Client said it can do. */
  readonly abilities: ClientAbilities;
  /** Puts one update on its way. Never blocks; throws {@linkcode ClientGone} after the transport failed. */
  update(sessionId: string, update: EncodedUpdate): void;
  /**
   * Undefined while the writer has room; else a promise for the moment when it has again. Check it after each batch: it is the
   * back-pressure of a slow Client.
   */
  room(): Promise<void> | undefined;
  /** Resolves when all that was written before has left this process; rejects with {@linkcode ClientGone}. */
  flushed(): Promise<void>;
  /** Tells it something that is no update. One that is gone needs no telling. */
  notify(method: string, params: JsonObject): void;
  /**
   * Sends a request and waits for its raw, unchecked result. When the signal aborts the Client is told by `$/cancel_request`
   * and the promise rejects at once with the signal's reason. An error answer rejects with {@linkcode ClientRefused}.
   */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown>;
}

/** The transport to the Client is closed or broken; nothing can be shown any more. */
export class ClientGone extends Error {
  /** Says so. */
  constructor(options?: ErrorOptions) {
    super("The editor's connection is closed", options);
    this.name = "ClientGone";
  }
}

/** The Client answered a request with an error. `code` is its JSON-RPC code: -32601 means that it has no such method. */
export class ClientRefused extends Error {
  /** The JSON-RPC error code. */
  readonly code: number;
  /** Details, unread. */
  readonly data?: Json;
  /** Keeps the code, the sentence and the details of the answer. */
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.name = "ClientRefused";
    this.code = code;
    this.data = data;
  }
}

/** A file that a prompt links, opened and admitted by the read scope. The holder closes it. */
export interface LinkedFile {
  /** File name for people, without folders. */
  readonly name: string;
  /** By the file's name. */
  readonly mimeType: string;
  /** The lines that the editor pointed at. */
  readonly lines?: { readonly from: number; readonly to: number };
  /** The bytes in parts of at most {@linkcode LIMITS.appendBytes}; throws {@linkcode ResourceError} when the file changes or is too large. */
  bytes(): AsyncIterable<Uint8Array>;
  /** Frees it. May be called twice. */
  close(): void;
}

/** How a linked URI is taken. */
export type Link =
  | { readonly kind: "file"; readonly file: LinkedFile }
  /** Not read: a scheme that never is, or a directory where the Engine takes those. */
  | { readonly kind: "reference"; readonly lines?: { readonly from: number; readonly to: number } };

/** The one door to the disk. */
export interface Files {
  /** The real path of an existing absolute directory; throws {@linkcode ResourceError} naming `path`. */
  directory(path: string): Promise<string>;
  /** Admits a linked URI within the Session's roots (real paths). Throws {@linkcode ResourceError}. */
  link(uri: string, roots: readonly string[], options: { directories: boolean }): Promise<Link>;
}

/** A linked file or directory that cannot be taken. The message names what the Client named and says what to do. */
export class ResourceError extends Error {
  /** Why, for programs. */
  readonly code:
    | "invalid_uri"
    | "invalid_path"
    | "not_permitted"
    | "not_found"
    | "not_a_regular_file"
    | "not_a_directory"
    | "too_large"
    | "changed"
    | "unreadable";
  /** Keeps the reason and the sentence. */
  constructor(code: ResourceError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ResourceError";
    this.code = code;
  }
}

export type { Clock, Ids } from "../model/clock.ts";
export type { Log } from "../model/log.ts";
