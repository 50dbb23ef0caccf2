import { assertEquals } from "@std/assert";
import type { Entry } from "../../support/wire.ts";
import { broken, claimsOf } from "./claims.ts";
import type { Facts } from "./facts.ts";

/** A conversation that asks for a mode and, where it is acknowledged, gets an answer. */
function setMode(modeId: string, acknowledged: boolean): readonly Entry[] {
  const params = { sessionId: "s", modeId };
  const asked = { kind: "request", id: 1, method: "session/set_mode", params } as const;
  const answered = { kind: "result", id: 1, result: {} } as const;
  const messages = acknowledged ? [asked, answered] : [asked];
  return messages.map((message, index) => ({
    index,
    at: 0,
    from: message === asked ? "client" : "agent",
    bytes: 0,
    text: "",
    message,
  }));
}

/** A disk that has one Session in a mode. */
function disk(value: string): Facts {
  const config = {
    revision: 1,
    options: [{ id: "mode", name: "Mode", type: "select" as const, value, choices: [] }],
  };
  const info = {
    sessionId: "s",
    cwd: "/",
    roots: [],
    engineId: "e",
    createdAt: 0,
    updatedAt: 0,
    config,
    commands: [],
  };
  const state = { info, unended: [], grants: [], watermark: 0, last: 0, open: [] };
  return new Map([["s", { state, rows: [], artifacts: [], interactions: new Set<string>() }]]);
}

const TABLE: readonly (readonly [string, string, readonly (readonly Entry[])[], boolean])[] = [
  ["the acknowledged mode is there", "ask", [], true],
  ["another mode is there", "read_only", [], false],
  ["a mode that another process asked for took its place", "read_only", [setMode("read_only", false)], true],
  ["a mode that nobody asked for is there", "accept_edits", [setMode("read_only", true)], false],
];

for (const [name, mode, others, holds] of TABLE) {
  Deno.test(`[S8] the judge of acknowledged modes: ${name}`, () => {
    assertEquals(broken(claimsOf(setMode("ask", true), others), disk(mode)).length === 0, holds);
  });
}
