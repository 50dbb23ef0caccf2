import * as old from "npm:@agentclientprotocol/sdk@0.14.1";
import * as sdk from "@agentclientprotocol/sdk";
import type { Launch } from "../support/launch.ts";
import { Wire } from "../support/wire.ts";

/** A `session/update` as the SDK hands it out. */
export type Update = sdk.SessionNotification["update"];

/** Chooses an option of a permission dialog. */
export type Choice = (
  request: sdk.RequestPermissionRequest,
) => sdk.RequestPermissionResponse | Promise<never>;

/** A Client that the protocol's own SDK drives; the bare lines are judged besides. */
export interface SdkClient {
  readonly wire: Wire;
  /** Updates of all Sessions in the order in which the SDK handed them out. */
  readonly updates: { readonly sessionId: string; readonly update: Update }[];
  initialize(params: sdk.InitializeRequest): Promise<sdk.InitializeResponse>;
  create(params: sdk.NewSessionRequest): Promise<sdk.NewSessionResponse>;
  prompt(params: sdk.PromptRequest): Promise<sdk.PromptResponse>;
  cancel(sessionId: string): Promise<void>;
  list(params: sdk.ListSessionsRequest): Promise<sdk.ListSessionsResponse>;
  setMode(params: sdk.SetSessionModeRequest): Promise<unknown>;
  close(sessionId: string): Promise<unknown>;
}

/** Which SDK to drive with. */
export type Version = "2.4.0" | "0.14.1";

/** Starts the program, runs `body` with a client of this version, ends it and returns its exit code. */
export async function withSdkClient(
  version: Version,
  launch: Launch,
  choose: Choice,
  body: (client: SdkClient) => Promise<void>,
): Promise<number> {
  const child = new Deno.Command(launch.program, {
    args: [...launch.args],
    ...(launch.env === undefined ? {} : { env: { ...launch.env } }),
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const wire = new Wire();
  const toAgent = tap(wire, "client");
  const fromAgent = tap(wire, "agent");
  const sent = toAgent.readable.pipeTo(child.stdin);
  const received = child.stdout.pipeTo(fromAgent.writable);
  const connect = version === "2.4.0" ? connectNew : connectOld;
  const client = connect(wire, sdk.ndJsonStream(toAgent.writable, fromAgent.readable), choose);
  try {
    await body(client);
  } finally {
    await toAgent.writable.close().catch(() => {});
    await Promise.all([sent, received]);
  }
  const { code } = await child.status;
  const faults = [...wire.faults, ...wire.rules.end()];
  if (faults.length > 0) throw new Error(`Faults:\n  ${faults.join("\n  ")}\n${wire.dump()}`);
  return code;
}

function connectNew(wire: Wire, stream: sdk.Stream, choose: Choice): SdkClient {
  const updates: SdkClient["updates"] = [];
  const { agent } = sdk.client({ name: "gangway-tests" })
    .onNotification("session/update", ({ params: { sessionId, update } }) => {
      updates.push({ sessionId, update });
    })
    .onRequest("session/request_permission", ({ params }) => choose(params))
    .connect(stream);
  return {
    wire,
    updates,
    initialize: (params) => agent.request("initialize", params),
    create: (params) => agent.request("session/new", params),
    prompt: (params) => agent.request("session/prompt", params),
    cancel: (sessionId) => agent.notify("session/cancel", { sessionId }),
    list: (params) => agent.request("session/list", params),
    setMode: (params) => agent.request("session/set_mode", params),
    close: (sessionId) => agent.request("session/close", { sessionId }),
  };
}

function connectOld(wire: Wire, stream: sdk.Stream, choose: Choice): SdkClient {
  const updates: SdkClient["updates"] = [];
  // The old SDK's types differ from the new one's in what they leave out; the wire is the same.
  const connection = new old.ClientSideConnection(() => ({
    sessionUpdate: ({ sessionId, update }) => {
      updates.push({ sessionId, update: update as Update });
      return Promise.resolve();
    },
    requestPermission: async (params) =>
      await choose(params as sdk.RequestPermissionRequest) as old.RequestPermissionResponse,
  }), stream as old.Stream);
  return {
    wire,
    updates,
    initialize: async (params) =>
      await connection.initialize(params as old.InitializeRequest) as sdk.InitializeResponse,
    create: async (params) =>
      await connection.newSession(params as old.NewSessionRequest) as sdk.NewSessionResponse,
    prompt: async (params) => await connection.prompt(params as old.PromptRequest) as sdk.PromptResponse,
    cancel: (sessionId) => connection.cancel({ sessionId }),
    list: async (params) => await connection.unstable_listSessions(params) as sdk.ListSessionsResponse,
    setMode: (params) => connection.setSessionMode(params),
    close: (sessionId) => connection.extMethod("session/close", { sessionId }),
  };
}

/** Lets bytes pass and records their lines. */
function tap(wire: Wire, from: "client" | "agent"): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) wire.record(from, line, new TextEncoder().encode(line).length);
      controller.enqueue(chunk);
    },
  });
}
