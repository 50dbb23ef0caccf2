/**
 * What Gangway with an agent behind it is measured against: the thinnest program between an editor and an agent on the same SDK. It
 * passes every request and notification on, in both directions, and knows nothing of what they mean.
 *
 * Usage: `deno run --allow-run scripts/proxy.ts COMMAND ARGS…`
 */
import {
  agent,
  type AgentConnection,
  client,
  type ClientConnection,
  ndJsonStream,
} from "@agentclientprotocol/sdk";
import { gathering } from "./bench/gathering.ts";

const [program = "", ...args] = Deno.args;
const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();

const front: AgentConnection = agent({ name: "proxy" })
  .onRequest("*", ({ method, params }) => back.agent.request(method, params))
  .onNotification("*", ({ method, params }) => back.agent.notify(method, params))
  .connect(ndJsonStream(gathering(Deno.stdout.writable), Deno.stdin.readable));
const back: ClientConnection = client({ name: "proxy" })
  .onRequest("*", ({ method, params }) => front.client.request(method, params))
  .onNotification("*", ({ method, params }) => front.client.notify(method, params))
  .connect(ndJsonStream(gathering(child.stdin), child.stdout));

await front.closed;
back.close();
child.kill();
await child.status;
