import { assert, assertEquals } from "@std/assert";
import { broken, type Claim, claimsOf } from "./claims.ts";
import { type Editor, withEditor } from "../../support/editor.ts";
import { gangway, script, withFolder } from "../../support/launch.ts";
import { link, listed, newSession, openSession, promptParams, tell } from "../../support/talk.ts";
import { choose } from "../../support/answers.ts";
import type { Facts } from "./facts.ts";
import { fields } from "../../support/rules.ts";
import type { Point } from "./failing_store.ts";
import { readFacts } from "./facts.ts";

interface Scenario {
  readonly point: Point;
  readonly nth: number;
  /** Says what leads to the write. Requests that the stillness leaves unanswered are not waited for. */
  readonly drive: (editor: Editor, cwd: string) => Promise<void>;
  /** Resolves when the editor was told what the write stands for. */
  readonly told: (editor: Editor) => Promise<unknown>;
  /** What was promised besides and needs the failpoint's own words to be told. */
  readonly extra?: (editor: Editor, notice: Notice) => readonly Claim[];
}

interface Notice {
  readonly writes: readonly { readonly op: string; readonly interactionId?: string }[];
}

const kind = (...kinds: string[]) => (editor: Editor) =>
  editor.until(({ message }) => {
    if (message?.kind !== "notification" || message.method !== "session/update") return undefined;
    return kinds.includes(String(fields(fields(message.params).update).sessionUpdate)) || undefined;
  }, kinds.join(" or "));

const answer = (method: string) => (editor: Editor) =>
  editor.until((entry) => {
    const asked = editor.wire.entries.findLast(({ from, message }) =>
      from === "client" && message?.kind === "request" && message.method === method
    );
    const { message } = entry;
    const id = asked?.message?.kind === "request" ? asked.message.id : undefined;
    return message?.kind === "result" && entry.from === "agent" && message.id === id ? true : undefined;
  }, `the answer to "${method}"`);

const cardEnds = (editor: Editor) =>
  editor.until(({ message }) => {
    if (message?.kind !== "notification") return undefined;
    const { status } = fields(fields(message.params).update);
    return status === "completed" || undefined;
  }, "the card's end");

function prompt(steps: string): Scenario["drive"] {
  return async (editor, cwd) => {
    const sessionId = await openSession(editor, cwd);
    editor.call("session/prompt", promptParams(sessionId, steps));
  };
}

const linked: Scenario["drive"] = async (editor, cwd) => {
  await Deno.writeTextFile(`${cwd}/notes.txt`, "words");
  const sessionId = await openSession(editor, cwd);
  editor.call("session/prompt", promptParams(sessionId, "/say read", link(`${cwd}/notes.txt`))).catch(
    () => {},
  );
};

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a Session": {
    point: "create",
    nth: 1,
    drive: async (editor, cwd) => {
      await editor.initialize();
      editor.call("session/new", { cwd, mcpServers: [] });
    },
    told: answer("session/new"),
  },
  "a mode": {
    point: "change",
    nth: 1,
    drive: async (editor, cwd) => {
      const sessionId = await openSession(editor, cwd);
      editor.call("session/set_mode", { sessionId, modeId: "accept_edits" });
    },
    told: answer("session/set_mode"),
  },
  "a Turn": {
    point: "admitted",
    nth: 1,
    drive: prompt("/say hello\n/sleep 60000"),
    told: kind("agent_message_chunk"),
  },
  "an Artifact's bytes": { point: "seal", nth: 1, drive: linked, told: answer("session/prompt") },
  "an Artifact": { point: "artifact", nth: 1, drive: linked, told: answer("session/prompt") },
  "an end": { point: "ended", nth: 1, drive: prompt("/emit 50 100"), told: answer("session/prompt") },
  "a second end": {
    point: "ended",
    nth: 2,
    drive: async (editor, cwd) => {
      const sessionId = await openSession(editor, cwd);
      await tell(editor, sessionId, "/say one");
      editor.call("session/prompt", promptParams(sessionId, "/say two"));
    },
    told: answer("session/prompt"),
  },
  "a watermark": {
    point: "watermark",
    nth: 1,
    drive: prompt("/say a\n/think b\n/say c"),
    told: answer("session/prompt"),
  },
  "an answer": {
    point: "interaction",
    nth: 1,
    drive: prompt("/write a.txt words"),
    told: cardEnds,
    extra: (editor, { writes }) => {
      const id = writes.find((write) => write.op === "interaction")?.interactionId ?? "";
      const claimed = editor.wire.entries.some(({ text, from }) =>
        from === "agent" && text.includes("tool_call_update") &&
        /"status":"(in_progress|completed)"/.test(text)
      );
      const known = (facts: Facts) => [...facts.values()].some(({ interactions }) => interactions.has(id));
      return claimed ? [{ what: `the answer to ${id} is kept`, holds: known }] : [];
    },
  },
  "a lasting permission": { point: "grant", nth: 1, drive: prompt("/write a.txt words"), told: cardEnds },
};

/** Drives one process to its failpoint and kills it there. Returns what it had acknowledged and what the disk knows. */
async function killedAt(
  scenario: Scenario,
  moment: "before" | "after" | "early",
  state: string,
  cwd: string,
): Promise<readonly string[]> {
  const launch = script(
    "tests/process/durability/agent.ts",
    state,
    scenario.point,
    moment,
    String(scenario.nth),
  );
  let claims: readonly Claim[] = [];
  let ids: readonly string[] = [];
  await withEditor(
    { launch, answers: choose(scenario.point === "grant" ? "allow_always" : "allow_once") },
    async (editor) => {
      await scenario.drive(editor, cwd);
      await editor.complained("failpoint ");
      await editor.complained("}\n");
      if (moment === "early") await scenario.told(editor);
      // Whatever was acknowledged before the stillness has left the process when these are answered.
      for (let round = 0; round < 10; round++) await editor.refused("_gangway/barrier", {});
      await editor.kill();
      const notice = JSON.parse(/^failpoint (.*)$/m.exec(editor.stderr)?.[1] ?? "{}") as Notice;
      ids = notice.writes.flatMap(({ interactionId }) => interactionId ?? []);
      claims = [...claimsOf(editor.wire.entries), ...scenario.extra?.(editor, notice) ?? []];
    },
  );
  return broken(claims, await readFacts(state, ids));
}

Deno.test("a process killed between a write and its acknowledgement has promised nothing that is not kept", async (t) => {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    for (const moment of ["before", "after"] as const) {
      await t.step(`${moment} the write of ${name}`, async () => {
        await withFolder(async (folder) => {
          await Deno.mkdir(`${folder}/work`);
          assertEquals(await killedAt(scenario, moment, `${folder}/state`, `${folder}/work`), []);
          await goesOn(`${folder}/state`, `${folder}/work`);
        });
      });
    }
  }
});

Deno.test("an acknowledgement that comes too early is caught", async (t) => {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    await t.step(name, async () => {
      await withFolder(async (folder) => {
        await Deno.mkdir(`${folder}/work`);
        const missing = await killedAt(scenario, "early", `${folder}/state`, `${folder}/work`);
        assert(missing.length > 0, "nothing was missed");
      });
    });
  }
});

/** A new process on the same folder lists what is there and works. */
async function goesOn(state: string, cwd: string): Promise<void> {
  await withEditor({ launch: gangway("--state", state) }, async (editor) => {
    await editor.initialize();
    await listed(editor);
    const sessionId = await newSession(editor, cwd);
    assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
  });
}
