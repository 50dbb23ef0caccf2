import { isRecord, recordOf, textOf } from "./shape.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { Json, JsonObject, Meta } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import { mayRunCommands } from "../command.ts";
import { loginsOf } from "./logins.ts";

/** What an agent said in its handshake, as far as it matters here. What is missing or malformed counts as absent. */
export interface Hello {
  /** Its own name and version, for people. */
  readonly name?: string;
  readonly title?: string;
  readonly version?: string;
  /** What it takes in a prompt besides text and links. */
  readonly prompt: { readonly image: boolean; readonly audio: boolean; readonly embeddedContext: boolean };
  /** Transports of MCP servers beside stdio. */
  readonly mcp: { readonly http: boolean; readonly sse: boolean };
  /** Its ways to go on with a Session, and what it can do with them. */
  readonly load: boolean;
  readonly resume: boolean;
  readonly close: boolean;
  /** Whether it tells which Sessions it keeps, and deletes one. */
  readonly list: boolean;
  readonly delete: boolean;
  readonly additionalDirectories: boolean;
  /** The method by which it takes words while it works; absent where it takes none. */
  readonly steering?: string;
  /** Its ways to log in, in ACP's own shape and as it said them. */
  readonly authMethods: readonly JsonObject[];
  /** Whether it can be logged out of, and says whether somebody is logged in. */
  readonly logout: boolean;
  readonly authStatus: boolean;
  /** Whether the providers of its models can be set. */
  readonly providers: boolean;
  /** What came with its capabilities and with the handshake, unread; absent where that is nothing or too much. */
  readonly capabilitiesMeta?: Meta;
  readonly meta?: Meta;
}

/** Reads the result of `initialize`. */
export function helloOf(result: unknown): Hello {
  const { agentInfo, agentCapabilities, authMethods, _meta } = recordOf(result);
  const { name, title, version } = recordOf(agentInfo);
  const capabilities = recordOf(agentCapabilities);
  const { loadSession, promptCapabilities, mcpCapabilities, sessionCapabilities } = capabilities;
  const auth = recordOf(capabilities.auth);
  const prompt = recordOf(promptCapabilities);
  const mcp = recordOf(mcpCapabilities);
  const session = recordOf(sessionCapabilities);
  return {
    ...optional("name", name),
    ...optional("title", title),
    ...optional("version", version),
    prompt: {
      image: prompt.image === true,
      audio: prompt.audio === true,
      embeddedContext: prompt.embeddedContext === true,
    },
    mcp: { http: mcp.http === true, sse: mcp.sse === true },
    load: loadSession === true,
    resume: isRecord(session.resume),
    close: isRecord(session.close),
    list: isRecord(session.list),
    delete: isRecord(session.delete),
    additionalDirectories: isRecord(session.additionalDirectories),
    ...optional("steering", recordOf(recordOf(capabilities._meta).gangway).steering),
    authMethods: loginsOf(authMethods),
    logout: isRecord(auth.logout),
    authStatus: isRecord(auth.status),
    providers: isRecord(capabilities.providers),
    ...passing("capabilitiesMeta", capabilities._meta),
    ...passing("meta", _meta),
  };
}

/**
 * What Gangway tells an agent about itself: what the editor offers for whom the agent is started is its own. `terminal` says whether Gangway
 * can run the agent in a terminal for somebody who logs in.
 */
export function greeting(services: ClientServices, version: string, terminal: boolean = false): JsonObject {
  const { hello } = services;
  return {
    protocolVersion: 1,
    ...(hello?.meta !== undefined && { _meta: hello.meta }),
    clientInfo: { name: "gangway", title: "Gangway", version },
    clientCapabilities: {
      fs: { readTextFile: services.readTextFile, writeTextFile: services.writeTextFile },
      terminal: services.terminal || mayRunCommands(),
      ...((services.forms || services.urls === true) && {
        elicitation: { ...(services.forms && { form: {} }), ...(services.urls === true && { url: {} }) },
      }),
      session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
      ...(terminal && hello?.terminalLogin === true && { auth: { terminal: true } }),
      ...(hello?.capabilities !== undefined && { _meta: passable(hello.capabilities) }),
    },
  };
}

/** Output in a card's metadata comes piece by piece, and a card is shown as a whole; without these it comes as the card's content. */
const PIECEWISE: readonly string[] = ["terminal_output", "terminal_output_delta"];

function passable(capabilities: Meta): Meta {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => !PIECEWISE.includes(name)));
}

function passing<K extends string>(key: K, meta: Json | undefined): { readonly [key in K]?: Meta } {
  if (!isRecord(meta) || JSON.stringify(meta).length > LIMITS.metaBytes) return {};
  return { [key]: meta } as { readonly [key in K]: Meta };
}

function optional(
  name: "name" | "title" | "version" | "steering",
  value: Json | undefined,
): Pick<Hello, typeof name> {
  const text = textOf(value);
  return text === undefined ? {} : { [name]: text };
}
