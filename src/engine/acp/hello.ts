import { isRecord, recordOf, recordsOf, textOf } from "./shape.ts";
import { mayRunCommands } from "../command.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { Json, JsonObject } from "../../model/json.ts";

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
  readonly additionalDirectories: boolean;
  /** The method by which it takes words while it works; absent where it takes none. */
  readonly steering?: string;
  /** Its ways to log in, in ACP's own shape. */
  readonly authMethods: readonly JsonObject[];
}

/** Reads the result of `initialize`. */
export function helloOf(result: unknown): Hello {
  const { agentInfo, agentCapabilities, authMethods } = recordOf(result);
  const { name, title, version } = recordOf(agentInfo);
  const { loadSession, promptCapabilities, mcpCapabilities, sessionCapabilities } = recordOf(
    agentCapabilities,
  );
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
    additionalDirectories: isRecord(session.additionalDirectories),
    ...optional("steering", recordOf(recordOf(recordOf(agentCapabilities)._meta).gangway).steering),
    authMethods: recordsOf(authMethods),
  };
}

/** What Gangway tells an agent about itself: the services of the editor that shows the first Turn are its own. */
export function greeting(services: ClientServices, version: string): JsonObject {
  return {
    protocolVersion: 1,
    clientInfo: { name: "gangway", title: "Gangway", version },
    clientCapabilities: {
      fs: { readTextFile: services.readTextFile, writeTextFile: services.writeTextFile },
      terminal: services.terminal || mayRunCommands(),
      ...((services.forms || services.urls === true) && {
        elicitation: { ...(services.forms && { form: {} }), ...(services.urls === true && { url: {} }) },
      }),
      session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    },
  };
}

function optional(name: "name" | "title" | "version" | "steering", value: Json | undefined): Pick<Hello, typeof name> {
  const text = textOf(value);
  return text === undefined ? {} : { [name]: text };
}
