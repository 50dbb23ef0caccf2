import type { AuthMethod, Implementation, InitializeResponse } from "@agentclientprotocol/sdk";
import config from "../../deno.json" with { type: "json" };
import type { ClientAbilities } from "../session/ports.ts";
import type { EngineProfile } from "../host/contract.ts";
import { boundedMeta } from "./meta.ts";
import type { ClientHello } from "../model/extension.ts";
import { invalidParams } from "./errors.ts";
import type { Meta } from "../model/json.ts";

/** What a front offers beside the baseline. */
export type Offer = Readonly<
  Record<"load" | "resume" | "remove" | "list" | "close" | "additionalDirectories", boolean>
>;

/**
 * What this front offers. One line here switches an ability on, in the handshake and as a method: an ability that is off is
 * absent as a method too.
 */
export const OFFERED: Offer = {
  load: true,
  resume: true,
  remove: true,
  list: true,
  close: true,
  additionalDirectories: true,
};

/** Who we say we are where the caller of `serve` says nothing else. */
export const GANGWAY: Implementation = { name: "gangway", title: "Gangway", version: config.version };

/** The one version of the protocol that is spoken here; it is the answer whatever was asked. */
const PROTOCOL_VERSION = 1;

/** What a handshake comes to. */
export interface Handshake {
  readonly response: InitializeResponse;
  readonly abilities: ClientAbilities;
}

/** Answers `initialize` out of static data: nothing is started, asked or read for it. Throws -32602. */
export function negotiate(params: unknown, profile: EngineProfile, info: Implementation): Handshake {
  const { _meta, clientCapabilities, protocolVersion } = recordOf(params);
  // Early Clients named their version by text.
  if (typeof protocolVersion !== "number" && typeof protocolVersion !== "string") {
    throw invalidParams("protocolVersion", "a number", protocolVersion === undefined);
  }
  return {
    response: welcome(profile, info, clientCapabilities),
    abilities: { ...abilitiesOf(clientCapabilities), ...helloOf(_meta, clientCapabilities) },
  };
}

function welcome(
  profile: EngineProfile,
  info: Implementation,
  clientCapabilities: unknown,
): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: info,
    agentCapabilities: {
      loadSession: OFFERED.load,
      promptCapabilities: { ...profile.prompt },
      mcpCapabilities: { ...profile.mcp },
      sessionCapabilities: {
        ...(OFFERED.list && { list: {} }),
        ...(OFFERED.resume && { resume: {} }),
        ...(OFFERED.close && { close: {} }),
        ...(OFFERED.remove && { delete: {} }),
        ...(OFFERED.additionalDirectories && { additionalDirectories: {} }),
      },
      // It has none of those above: what Gangway answers itself it says itself.
      ...profile.beyond?.capabilities,
    },
    authMethods: loginMethods(profile, clientCapabilities),
    ...(profile.beyond?.meta !== undefined && { _meta: { ...profile.beyond.meta } }),
  };
}

/** What is missing or malformed counts as absent and is never an error. */
function abilitiesOf(clientCapabilities: unknown): ClientAbilities {
  const { fs, terminal, elicitation, session } = recordOf(clientCapabilities);
  const files = recordOf(fs);
  const sessions = recordOf(session);
  return {
    readTextFile: files.readTextFile === true,
    writeTextFile: files.writeTextFile === true,
    terminal: terminal === true,
    forms: isRecord(recordOf(elicitation).form),
    urls: isRecord(recordOf(elicitation).url),
    booleanOptions: isRecord(recordOf(sessions.configOptions).boolean),
    notices: isRecord(sessions.notices),
    compaction: isRecord(sessions.compaction),
  };
}

/** What the Client said that an Engine may want to hear. What is malformed or too large is left out. */
function helloOf(meta: unknown, clientCapabilities: unknown): { readonly hello?: ClientHello } {
  const handshake = passing(meta);
  const capabilities = passing(recordOf(clientCapabilities)._meta);
  const terminalLogin = hasTerminal(clientCapabilities);
  if (!terminalLogin && handshake === undefined && capabilities === undefined) return {};
  return {
    hello: {
      terminalLogin,
      ...(handshake !== undefined && { meta: handshake }),
      ...(capabilities !== undefined && { capabilities }),
    },
  };
}

/** Whether the Client can start the program that serves it again, in a terminal. */
function hasTerminal(clientCapabilities: unknown): boolean {
  return recordOf(recordOf(clientCapabilities).auth).terminal === true;
}

function passing(meta: unknown): Meta | undefined {
  return isRecord(meta) ? boundedMeta(meta) : undefined;
}

/** The Engine's ways to log in: by `authenticate` where it speaks that, in a terminal where the Client says that it has one. */
function loginMethods(profile: EngineProfile, clientCapabilities: unknown): AuthMethod[] {
  const terminal = hasTerminal(clientCapabilities);
  const methods: AuthMethod[] = [];
  for (const { type, id, name, description, args, env, _meta } of profile.authMethods) {
    if (typeof id !== "string" || typeof name !== "string") continue;
    const base = {
      id,
      name,
      ...(typeof description === "string" && { description }),
      ...(isRecord(_meta) && { _meta }),
    };
    if (type === undefined && profile.beyond !== undefined) methods.push(base);
    if (type !== "terminal" || !terminal) continue;
    methods.push({
      ...base,
      type,
      ...(Array.isArray(args) && { args: args.filter((arg) => typeof arg === "string") }),
      ...(isRecord(env) && { env: stringsOf(env) }),
    });
  }
  return methods;
}

function stringsOf(record: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
