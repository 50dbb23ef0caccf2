import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { gone } from "../gone.ts";
import { type Launch, permitted, script, withFolder } from "../../support/launch.ts";
import { listed, newSession, openSession, promptParams, stopReasonOf, tell } from "../../support/talk.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import type { Manners } from "./scripted_agent.ts";
import { scripted } from "./stage.ts";
import { withEditor } from "../../support/editor.ts";

const MODES = {
  currentModeId: "ask",
  availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }],
};

/** Gangway with the agent of the tests. */
function behind(manners: Manners = {}, ...flags: string[]): Launch {
  const { program, args } = scripted(manners);
  return script("mod.ts", ...(flags.length > 0 ? flags : ["--memory"]), "--", program, ...args);
}

for (const stays of [false, true]) {
  Deno.test(`[A5] [E3] the end of input ends Gangway and its agent in mid-Turn, one that ${stays ? "stays" : "goes"}`, async () => {
    await withEditor({ launch: behind({ stays }), deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, Deno.cwd());
      const { screen } = await tell(editor, sessionId, "spawn");
      const pids = screen.messages[0]?.text.split(" ").map(Number) ?? [];
      assertEquals(pids.length, 2);
      editor.expect(editor.compose("session/prompt", promptParams(sessionId, "say a\nhang"))).catch(() => {});
      const since = performance.now();
      await editor.endInput();
      await editor.exited();
      const ms = performance.now() - since;
      assert(ms < 3000, `It took ${ms} ms`);
      await gone(pids);
      await editor.finish({ unanswered: true });
    });
  });
}

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  Deno.test(`[E3] ${signal} of Gangway leaves no process of its agent`, async () => {
    await withEditor({ launch: behind({ stays: true }), deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, Deno.cwd());
      const { screen } = await tell(editor, sessionId, "spawn");
      const pids = screen.messages[0]?.text.split(" ").map(Number) ?? [];
      assertEquals(pids.length, 2);
      editor.signal(signal);
      await editor.exited();
      await gone(pids);
      await editor.kill();
    });
  });
}

const grants: readonly (readonly [flags: readonly string[], says: string | undefined])[] = [
  [["--allow-run=sh"], undefined],
  [[`--allow-run=${Deno.execPath()}`], undefined],
  [[], "--allow-run=sh"],
];
for (const [flags, says] of grants) {
  Deno.test(`[E3] an agent ${says === undefined ? "starts" : "cannot be started"} with ${flags.join(" ") || "no permission"}`, async () => {
    const { program, args } = scripted();
    const launch = permitted(flags, "mod.ts", "--memory", "--", program, ...args);
    await withEditor({ launch, deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, Deno.cwd());
      const { answer, stopReason } = await tell(editor, sessionId, "say a");
      if (says === undefined) return assertEquals(stopReason, "end_turn");
      assert("error" in answer);
      assertStringIncludes(answer.error.message, says);
    });
  });
}

const steps: readonly { readonly name: string; readonly manners?: Manners; readonly prompt: string }[] = [
  { name: "in initialize", manners: { initialize: "exit" }, prompt: "say a" },
  { name: "in session/new", manners: { opened: "exit" }, prompt: "say a" },
  { name: "before a word", prompt: "exit 3" },
  { name: "in mid-speech", prompt: "say a\nexit 3" },
  {
    name: "in a tool",
    prompt: 'update {"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}\nexit 3',
  },
];
for (const { name, manners, prompt } of steps) {
  Deno.test(`[E2] an agent that dies ${name} ends the prompt with a true error`, async () => {
    await withEditor({ launch: behind(manners), deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, Deno.cwd());
      const { answer, screen } = await tell(editor, sessionId, prompt);
      assert("error" in answer, JSON.stringify(answer));
      assertStringIncludes(answer.error.message, "exit code");
      for (const card of screen.cards) assertEquals(card.status, "failed");
      if (manners !== undefined) return;
      const next = await tell(editor, sessionId, "say again");
      assertEquals(next.stopReason, "end_turn");
      assertEquals(next.screen.messages.at(-1)?.text, "again");
    });
  });
}

Deno.test("[C7] [E2] a cancel is answered within a second, whether the agent hears it or not", async () => {
  await withEditor({ launch: behind(), deadlineMs: 20_000 }, async (editor) => {
    const sessionId = await openSession(editor, Deno.cwd());
    for (const step of ["wait", "hang"]) {
      const asked = editor.call("session/prompt", promptParams(sessionId, `say ${step}\n${step}`));
      await editor.updated(
        sessionId,
        (update) => JSON.stringify(update).includes(`"${step}"`),
        "the agent's word",
      );
      const since = performance.now();
      editor.notify("session/cancel", { sessionId });
      assertEquals(stopReasonOf(await asked), "cancelled");
      const ms = performance.now() - since;
      assert(ms < 1000, `The cancel of "${step}" took ${ms} ms`);
    }
    assertEquals((await tell(editor, sessionId, "say next")).stopReason, "end_turn");
  });
});

Deno.test("[E4] a Session of an agent is listed and goes on in another process, with the agent's memory", async () => {
  const manners: Manners = {
    initialize: { agentCapabilities: { loadSession: true } },
    history: [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "old" } }],
  };
  await withFolder(async (folder) => {
    let sessionId = "";
    let first: string | undefined;
    await withEditor({ launch: behind(manners, "--state", folder), deadlineMs: 20_000 }, async (editor) => {
      sessionId = await openSession(editor, folder);
      first = (await tell(editor, sessionId, "session")).screen.messages[0]?.text;
    });
    await withEditor({ launch: behind(manners, "--state", folder), deadlineMs: 20_000 }, async (editor) => {
      await editor.initialize();
      assertEquals((await listed(editor)).map((each) => each.sessionId), [sessionId]);
      const other = await newSession(editor, folder);
      assert(other !== sessionId);
    });
    assert(first !== undefined && first !== "");
    const kept = await Array.fromAsync(Deno.readDir(`${folder}/agents`));
    assertEquals(kept.length, 1);
  });
});

Deno.test("[E1] from its second start on an agent's modes are there with the new Session, and its own kinds of content", async () => {
  const manners: Manners = {
    initialize: { agentCapabilities: { promptCapabilities: { image: true } } },
    opened: { modes: MODES },
  };
  await withFolder(async (folder) => {
    const seen: unknown[] = [];
    for (let start = 0; start < 2; start++) {
      await withEditor({ launch: behind(manners, "--state", folder), deadlineMs: 20_000 }, async (editor) => {
        const { agentCapabilities } = await editor.initialize();
        const opened = await editor.request("session/new", { cwd: folder, mcpServers: [] }) as JsonObject;
        const { sessionId, modes } = opened;
        seen.push([(agentCapabilities as JsonObject).promptCapabilities, modes ?? null]);
        assertEquals((await tell(editor, String(sessionId), "say a")).stopReason, "end_turn");
        await editor.request("session/set_mode", { sessionId: sessionId ?? "", modeId: "code" });
        const { screen } = await tell(editor, String(sessionId), "set");
        assertEquals(screen.messages.at(-1)?.text, '[["session/set_mode","code"]]');
      });
    }
    assertEquals(seen, [
      [{ image: true, audio: false, embeddedContext: true }, null],
      [{ image: true, audio: false, embeddedContext: false }, MODES],
    ]);
  });
});
