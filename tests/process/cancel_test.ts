import { assert, assertEquals } from "@std/assert";
import { type Editor, withEditor } from "../support/editor.ts";
import { fields } from "../support/rules.ts";
import { gangway, withFolder } from "../support/launch.ts";
import { link, newSession, openSession, promptParams, stopReasonOf, tell } from "../support/talk.ts";
import { NEVER, permission } from "../support/answers.ts";
import { screenOf, textOf } from "../support/screen.ts";

const encoder = new TextEncoder();
const UPLOAD_BYTES = 60 * 1024 * 1024;

/** Whether an update shows a piece of the wanted kind. */
const kind = (wanted: string) => (update: Record<string, unknown>) => update.sessionUpdate === wanted;

interface State {
  readonly steps: string;
  /** Resolves when the Turn is in the state. */
  readonly reached: (editor: Editor, sessionId: string, from: number) => Promise<unknown>;
}

const STATES: Readonly<Record<string, State>> = {
  "thinking": {
    steps: "/think hm\n/sleep 60000",
    reached: (editor, id, from) => editor.updated(id, kind("agent_thought_chunk"), "a thought", from),
  },
  "streaming": {
    steps: "/emit 1000000 16",
    reached: (editor, id, from) => editor.updated(id, kind("agent_message_chunk"), "a word", from),
  },
  "between steps": {
    steps: "/say one\n/sleep 60000\n/say two",
    reached: (editor, id, from) => editor.updated(id, kind("agent_message_chunk"), "a word", from),
  },
  "a silent command": {
    steps: "/run sleep 60",
    reached: (editor, id, from) =>
      editor.updated(id, (update) => update.status === "in_progress", "a running tool", from),
  },
  "a command that ignores signals": {
    steps: "/run trap '' TERM INT HUP; echo started; while true; do sleep 1; done",
    reached: (editor, id, from) =>
      editor.updated(
        id,
        (update) => JSON.stringify(update.content ?? "").includes("started"),
        "output",
        from,
      ),
  },
  "a chatty command": {
    steps: "/run yes chatter",
    reached: (editor, id, from) =>
      editor.updated(
        id,
        (update) => JSON.stringify(update.content ?? "").includes("chatter"),
        "output",
        from,
      ),
  },
};

Deno.test("[C2] [C7] a cancel is answered in under a second in every state of a Turn", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      editor.answer({
        "session/request_permission": (params) => {
          const options = params.options as readonly { readonly kind: string; readonly optionId: string }[];
          const allow = options.find((option) => option.kind === "allow_once");
          return { outcome: { outcome: "selected", optionId: allow?.optionId ?? "" } };
        },
      });
      for (const [name, { steps, reached }] of Object.entries(STATES)) {
        await t.step(name, () => cancelled(editor, sessionId, steps, reached));
      }
      for (const reply of [NEVER, { outcome: { outcome: "cancelled" } }] as const) {
        await t.step(
          reply === NEVER ? "a dialog that is never answered" : "a dialog that is cancelled",
          async () => {
            editor.answer(permission(NEVER));
            const dialog = async (each: Editor, _: string, from: number) => {
              const { id } = await each.asked("session/request_permission", from);
              // A Client that does as the protocol says answers its own dialog; the other never does.
              if (reply !== NEVER) setTimeout(() => each.reply(id, reply), 0);
            };
            await cancelled(editor, sessionId, "/run echo never > never.txt", dialog);
            const made = await Deno.stat(`${cwd}/never.txt`).then(() => true, () => false);
            assertEquals(made, false);
          },
        );
      }
    });
  });
});

async function cancelled(
  editor: Editor,
  sessionId: string,
  steps: string,
  reached: State["reached"],
): Promise<void> {
  const from = editor.wire.count;
  const turn = editor.call("session/prompt", promptParams(sessionId, steps));
  await reached(editor, sessionId, from);
  const started = performance.now();
  editor.notify("session/cancel", { sessionId });
  const answer = await turn;
  const ms = performance.now() - started;
  assertEquals(stopReasonOf(answer), "cancelled", JSON.stringify(answer));
  assert(ms < 1000, `the cancel took ${ms.toFixed(0)} ms`);
  for (const card of screenOf(editor.wire.entries, sessionId, from).cards) {
    assertEquals(card.status, "failed");
  }
  assertEquals(textOf((await tell(editor, sessionId, "/say next")).screen), "next");
}

Deno.test("[C1] [C7] [F4] a cancel or close during an upload starts nothing and keeps nothing", async (t) => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/work`);
    const big = `${folder}/work/big.bin`;
    const file = await Deno.create(big);
    await file.truncate(UPLOAD_BYTES);
    file.close();
    await withEditor({ launch: gangway("--state", `${folder}/state`) }, async (editor) => {
      const sessionId = await openSession(editor, `${folder}/work`);
      assertEquals((await tell(editor, sessionId, "/say warm")).stopReason, "end_turn");
      const before = await bytesBelow(`${folder}/state`);

      const ways: readonly (readonly [name: string, cancel: (id: string) => void | Promise<unknown>])[] = [
        ["cancel", (id) => editor.notify("session/cancel", { sessionId: id })],
        ["$/cancel_request", (id) => editor.notify("$/cancel_request", { requestId: requestOf(editor, id) })],
        ["close", (id) => editor.request("session/close", { sessionId: id })],
      ];
      for (const [name, cancel] of ways) {
        await t.step(name, async () => {
          const id = name === "close" ? await newSession(editor, `${folder}/work`) : sessionId;
          const from = editor.wire.count;
          const turn = editor.call("session/prompt", promptParams(id, "/say uploaded", link(big)));
          await uploading(`${folder}/state`, editor);
          const started = performance.now();
          await cancel(id);
          assertEquals(stopReasonOf(await turn), "cancelled");
          assert(performance.now() - started < 1000);
          assertEquals(screenOf(editor.wire.entries, id, from).messages, []);
        });
      }
      await t.step("in the same write as the prompt", async () => {
        const prompt = editor.compose("session/prompt", promptParams(sessionId, "/say uploaded", link(big)));
        const answer = editor.expect(prompt);
        const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
        editor.bytes(encoder.encode(`${JSON.stringify(prompt)}\n${JSON.stringify(cancel)}\n`));
        assertEquals(stopReasonOf(await answer), "cancelled");
      });
      await t.step("nothing is left of it", async () => {
        assertEquals(textOf((await tell(editor, sessionId, "/say next")).screen), "next");
        const kept = await bytesBelow(`${folder}/state`) - before;
        assert(kept < 1024 * 1024, `${kept} bytes are left`);
      });
    });
  });
});

/** The id of the latest prompt of a Session. */
function requestOf(editor: Editor, sessionId: string): number {
  const entry = editor.wire.entries.findLast(({ message }) =>
    message?.kind === "request" && message.method === "session/prompt" &&
    fields(message.params).sessionId === sessionId
  );
  const { message } = entry ?? {};
  assert(message?.kind === "request");
  return Number(message.id);
}

/** Waits until staged bytes show in the state folder. */
async function uploading(state: string, editor: Editor): Promise<void> {
  const before = await bytesBelow(state);
  const watcher = Deno.watchFs(state, { recursive: true });
  const seen = (async () => {
    for await (const _ of watcher) {
      if (await bytesBelow(state) > before + 1024 * 1024) return;
    }
  })();
  try {
    await editor.within(seen, "an upload in the state folder");
  } finally {
    watcher.close();
  }
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) bytes += await bytesBelow(path);
    else bytes += await Deno.stat(path).then((info) => info.size, () => 0);
  }
  return bytes;
}

Deno.test("[C8] odd cancels are defined and harmless", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
      const write = (...messages: object[]) =>
        editor.bytes(encoder.encode(messages.map((message) => `${JSON.stringify(message)}\n`).join("")));

      await t.step("with nothing running", async () => {
        write(cancel, cancel);
        assertEquals((await tell(editor, sessionId, "/say one")).stopReason, "end_turn");
      });
      await t.step("twice", async () => {
        const turn = tell(editor, sessionId, "/say go\n/sleep 60000");
        await editor.updated(sessionId, (update) => fields(update.content).text === "go", "a word");
        write(cancel, cancel);
        assertEquals((await turn).stopReason, "cancelled");
        assertEquals((await tell(editor, sessionId, "/say two")).stopReason, "end_turn");
      });
      await t.step("in the same write as the prompt, behind it", async () => {
        for (let round = 0; round < 20; round++) {
          const prompt = editor.compose(
            "session/prompt",
            promptParams(sessionId, "/say three\n/sleep 60000"),
          );
          const answer = editor.expect(prompt);
          write(prompt, cancel);
          assertEquals(stopReasonOf(await answer), "cancelled");
        }
      });
      await t.step("in the same write, before the prompt", async () => {
        const prompt = editor.compose("session/prompt", promptParams(sessionId, "/say four"));
        const answer = editor.expect(prompt);
        write(cancel, prompt);
        assertEquals(stopReasonOf(await answer), "end_turn");
      });
      await t.step("between two prompts: the later one is not meant", async () => {
        const prompts = ["/say five\n/sleep 60000", "/say six"].map((steps) =>
          editor.compose("session/prompt", promptParams(sessionId, steps))
        );
        const answers = prompts.map((prompt) => editor.expect(prompt));
        write(prompts[0]!, cancel, prompts[1]!);
        assertEquals((await Promise.all(answers)).map(stopReasonOf), ["cancelled", "end_turn"]);
      });
      await t.step("of a request that was answered, or never was", async () => {
        editor.notify("$/cancel_request", { requestId: requestOf(editor, sessionId) });
        editor.notify("$/cancel_request", { requestId: 987654 });
        editor.notify("$/cancel_request", { requestId: "no such" });
        assertEquals((await tell(editor, sessionId, "/say seven")).stopReason, "end_turn");
      });
      await t.step("of another Session", async () => {
        const other = await newSession(editor, cwd);
        const turn = tell(editor, sessionId, "/say eight\n/sleep 100\n/say nine");
        editor.notify("session/cancel", { sessionId: other });
        editor.notify("session/cancel", { sessionId: "nobody" });
        assertEquals((await turn).stopReason, "end_turn");
      });
    });
  });
});
