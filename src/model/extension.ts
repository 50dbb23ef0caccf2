import type { Json, JsonObject, Meta } from "./json.ts";

/** What a Client said of itself in its handshake, for an Engine that passes it on. */
export interface ClientHello {
  /** Whether it can start the program that serves it again, in a terminal, so that a person may log in. */
  readonly terminalLogin: boolean;
  /** What came with the handshake, unread. */
  readonly meta?: Meta;
  /** What came with the Client's capabilities, unread. */
  readonly capabilities?: Meta;
}

/**
 * What an editor and an Engine say to each other beyond Sessions and Turns: logging in, and methods that only the two of them know.
 * Whoever stands between them looks into none of it.
 */
export interface ExtensionMessage {
  /** The Host's id of the Session that it is about; absent where it is about none. */
  readonly sessionId?: string;
  /** The Engine that an editor means where it means no Session; the default one where absent. */
  readonly engineId?: string;
  /** Its name. */
  readonly method: string;
  /** At most {@linkcode LIMITS.extensionLength} encoded. A Session is named by `sessionId` here too. */
  readonly params: JsonObject;
}

/** How a request was answered by the side that it is for. */
export type ExtensionAnswer =
  | { readonly kind: "result"; readonly result: Json }
  | { readonly kind: "error"; readonly code: number; readonly message: string; readonly data?: Json };

/** What an Engine says to an editor. */
export type ExtensionEvent =
  | { readonly type: "request"; readonly callId: string; readonly message: ExtensionMessage }
  /** The answer is not waited for any more. */
  | { readonly type: "request_cancelled"; readonly callId: string }
  | { readonly type: "notification"; readonly message: ExtensionMessage };

/** The code by which a side says that it does not know a method. */
const METHOD_NOT_FOUND = -32601;

/** Nobody there knows the method. */
export function unknownExtension(method: string): ExtensionAnswer {
  const name = method.slice(0, 100);
  return {
    kind: "error",
    code: METHOD_NOT_FOUND,
    message: `Method not found: ${name}`,
    data: { method: name },
  };
}
