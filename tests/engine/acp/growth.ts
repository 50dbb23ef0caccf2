/**
 * Many prompts through Gangway to one agent, and what the process of Gangway weighs meanwhile. Run by itself it takes the number of prompts:
 * `deno run -A tests/engine/acp/growth.ts 10000`.
 */
import { Editor } from "../../support/editor.ts";
import { openSession, promptParams, stopReasonOf } from "../../support/talk.ts";
import { script } from "../../support/launch.ts";
import { scripted } from "./stage.ts";

/** What a process weighs after so many prompts. */
export interface Weight {
  readonly prompts: number;
  /** Bytes in memory. */
  readonly memory: number;
  /** Open files, pipes and sockets. */
  readonly handles: number;
  /** Processes that descend from it. */
  readonly processes: number;
}

const CHUNK = { sessionUpdate: "agent_message_chunk" };
const TOOL = { sessionUpdate: "tool_call", toolCallId: "t", title: "x", kind: "read" };
const step = (update: unknown) => `update ${JSON.stringify(update)}`;

/** One of everything. */
const PROMPT = [
  "say a word",
  step({ ...CHUNK, messageId: "m", content: { type: "text", text: "with" }, _meta: { n: 1 } }),
  step({ ...CHUNK, messageId: "m", content: { type: "image", mimeType: "image/png", data: "AAAA" } }),
  step(TOOL),
  step({ ...TOOL, sessionUpdate: "tool_call_update", status: "completed" }),
  step({ sessionUpdate: "plan", entries: [{ content: "a", priority: "low", status: "pending" }] }),
  `ask session/request_permission ${
    JSON.stringify({
      toolCall: { toolCallId: "p", title: "x", status: "completed" },
      options: [{ optionId: "o", name: "O", kind: "allow_once" }],
    })
  }`,
].join("\n");

/** What comes rarely and costs more: a program here, and words behind the answer. */
const RARE = [
  `ask terminal/create ${JSON.stringify({ command: "echo a" })}`,
  "say b",
].join("\n");

/** Sends prompts and weighs after each number in `marks`, rising. The Session's history is on disk in `folder`. */
export async function grow(marks: readonly number[], folder: string): Promise<Weight[]> {
  const { program, args } = scripted();
  const editor = new Editor({
    launch: script("mod.ts", "--state", folder, "--", program, ...args),
    answers: { "session/request_permission": () => ({ outcome: { outcome: "selected", optionId: "o" } }) },
    deadlineMs: 60_000,
    keep: 64,
  });
  const weights: Weight[] = [];
  try {
    const sessionId = await openSession(editor, Deno.cwd());
    editor.wire.rules.expectLive(sessionId);
    let sent = 0;
    let terminals = 0;
    const tell = async (text: string) => {
      const stop = stopReasonOf(await editor.call("session/prompt", promptParams(sessionId, text)));
      if (stop !== "end_turn") throw new Error(`Prompt ${sent} ended as ${stop}`);
      sent++;
    };
    for (const mark of marks) {
      while (sent < mark) {
        if (sent % 50 !== 49) await tell(PROMPT);
        else {
          const release = `ask terminal/release {"terminalId":"gangway-terminal-${++terminals}"}`;
          await tell(
            `${RARE}\n${release}\nafter ${
              JSON.stringify({ ...CHUNK, content: { type: "text", text: "late" } })
            }`,
          );
        }
      }
      weights.push({ prompts: sent, ...weigh(editor.pid) });
    }
    return weights;
  } finally {
    await editor.kill();
  }
}

function weigh(pid: number): Omit<Weight, "prompts"> {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const memory = Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024;
  return { memory, handles: [...Deno.readDirSync(`/proc/${pid}/fd`)].length, processes: descendants(pid) };
}

function descendants(pid: number): number {
  let count = 0;
  for (const task of Deno.readDirSync(`/proc/${pid}/task`)) {
    const children = Deno.readTextFileSync(`/proc/${pid}/task/${task.name}/children`).trim();
    for (const child of children === "" ? [] : children.split(" ")) count += 1 + descendants(Number(child));
  }
  return count;
}

if (import.meta.main) {
  const most = Number(Deno.args[0] ?? 10_000);
  const folder = await Deno.makeTempDir();
  const since = performance.now();
  const weights = await grow([most / 10, most / 2, most], folder);
  const lines = [
    ...weights.map((weight) => JSON.stringify(weight)),
    `${Math.round((performance.now() - since) / 1000)} s`,
  ];
  await Deno.stdout.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
  await Deno.remove(folder, { recursive: true });
}
