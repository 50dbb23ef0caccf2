import { ALWAYS, KEPT_BY_GANGWAY } from "./differences.ts";
import type { RealAgent } from "./agent.ts";

/**
 * The example of the protocol's own SDK, from the last version whose package has it. It knows one conversation, which it plays with a
 * second between its steps, and hears a cancel at the next of them. It keeps nothing.
 */
export const example: RealAgent = {
  name: "the SDK's example",
  pins: { "@agentclientprotocol/sdk": "1.9.0", "zod": "4.6.7" },
  launch: ({ installed, node }) => ({
    program: node,
    args: [`${installed}/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js`],
  }),
  scenes: [
    { name: "allowed" },
    { name: "denied", choose: "reject_once" },
    { name: "cancelled", cancelAt: "help" },
  ],
  working: { name: "any", cancelAt: "help" },
  differences: [
    ...ALWAYS,
    ...KEPT_BY_GANGWAY,
    { at: "hello.agentCapabilities", why: "It says nothing, or that it cannot load, which Gangway can" },
    { at: "scenes.denied.cards.1.status", why: "It leaves a tool open that was denied" },
    { at: "scenes.denied.cards.1.content", why: "Such a tool is shown as interrupted" },
  ],
};
