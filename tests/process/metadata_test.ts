import { assertEquals } from "@std/assert";
import { behind, heardBy, outspoken } from "../engine/acp/outspoken.ts";
import { Editor, withEditor } from "../support/editor.ts";
import { fields } from "../support/rules.ts";
import { newSession, tell } from "../support/talk.ts";
import { withFolder } from "../support/launch.ts";

Deno.test("[E1] metadata passes from the editor's requests to the agent's", async () => {
  await withFolder(async (folder) => {
    const resumes = { agentCapabilities: { sessionCapabilities: { resume: {}, close: {} } } };
    const capabilities = { _meta: { "terminal-auth": true } };
    const launch = behind({ hello: resumes }, "--state", `${folder}/state`);
    let sessionId = "";
    await withEditor(outspoken({ launch, capabilities }), async (editor) => {
      await editor.request("initialize", { ...editor.hello(), _meta: { trace: 1 } });
      sessionId = await newSession(editor, folder, { _meta: { n: 2 } });
      assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
      await editor.request("session/set_mode", { sessionId, modeId: "code", _meta: { n: 3 } });
      await editor.request("session/set_config_option", {
        sessionId,
        configId: "mode",
        value: "ask",
        _meta: { n: 4 },
      });
      const heard = await heardBy(editor);
      const [hello] = heard;
      assertEquals(fields(hello?.params)._meta, { trace: 1 });
      assertEquals(fields(fields(hello?.params).clientCapabilities)._meta, { "terminal-auth": true });
      const metas = heard.filter(({ method }) => method === "session/new" || method === "session/set_mode")
        .map(({ params }) => fields(params)._meta);
      assertEquals(metas, [{ n: 2 }, { n: 3 }, { n: 4 }]);
    });
    await withEditor(outspoken({ launch }), async (editor) => {
      await editor.initialize();
      await editor.request("session/resume", { sessionId, cwd: folder, mcpServers: [], _meta: { n: 5 } });
      assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
      const resumed = (await heardBy(editor)).find(({ method }) => method === "session/resume");
      assertEquals(fields(resumed?.params)._meta, { n: 5 });
      await editor.request("session/load", { sessionId, cwd: folder, mcpServers: [], _meta: { n: 6 } });
      await editor.request("session/load", { sessionId, cwd: folder, mcpServers: [] });
      assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
    });
  });
});

Deno.test("[E1] what an agent says of itself beyond the protocol, and its commands, are there from its second start on", async () => {
  const commands = [{ name: "web", description: "Search", input: { hint: "words" } }];
  const hello = {
    agentCapabilities: { auth: { logout: {} }, _meta: { custom: { queueing: true } } },
    _meta: { build: "b7" },
  };
  await withFolder(async (folder) => {
    const launch = behind({ hello, commands }, "--state", `${folder}/state`);
    for (const start of ["first", "second"]) {
      await withEditor(outspoken({ launch }), async (editor) => {
        const { agentCapabilities, _meta } = await editor.initialize();
        const { auth, _meta: custom } = fields(agentCapabilities);
        const known = start === "second";
        assertEquals(
          [auth, custom, _meta],
          known
            ? [{ logout: {} }, { custom: { queueing: true } }, { build: "b7" }]
            : [undefined, undefined, undefined],
        );
        const sessionId = await newSession(editor, folder);
        const shown = () =>
          editor.updated(
            sessionId,
            ({ sessionUpdate, availableCommands }) =>
              sessionUpdate === "available_commands_update" &&
              JSON.stringify(availableCommands) === JSON.stringify(commands),
            "the commands",
          );
        // Before any prompt, where they are known.
        if (known) return void await shown();
        await tell(editor, sessionId, "hello");
        await shown();
      });
    }
  });
});

Deno.test("[E1] unstable methods about the agent as a whole pass where it says that it has them; those about Sessions are refused", async () => {
  const hello = { agentCapabilities: { providers: {}, auth: { status: {} } } };
  const UNSTABLE = ["auth/status", "providers/list"];
  const REFUSED = [
    ...["session/fork", "session/archive", "session/unarchive", "session/set_title", "session/status"],
    ...["session/set_model", "mcp/message", "proxy/successor", "nes/start", "document/didOpen"],
  ];
  for (const [launch, there] of [[behind({ hello }), true], [behind(), false]] as const) {
    const editor = new Editor(outspoken({ launch }));
    try {
      await editor.initialize();
      const sessionId = await newSession(editor, Deno.cwd());
      for (const method of UNSTABLE) {
        const answer = await editor.call(method, {}, { judged: false });
        assertEquals("result" in answer, there, method);
        if ("error" in answer) assertEquals(answer.error.code, -32601, method);
      }
      for (const method of REFUSED) {
        assertEquals((await editor.refused(method, { sessionId }, { judged: false })).code, -32601, method);
      }
      await editor.request("_tell", { method: "auth/status_update", params: { state: "unknown" } });
      await editor.until(
        ({ message }) =>
          message?.kind === "notification" && message.method === "auth/status_update" || undefined,
        "the agent's status",
      );
      assertEquals((await heardBy(editor)).filter(({ method }) => REFUSED.includes(String(method))), []);
    } finally {
      await editor.kill();
    }
  }
});
