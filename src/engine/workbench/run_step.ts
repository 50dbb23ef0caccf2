import { permit, type Wish } from "./permission.ts";
import type { ToolInput, ToolResult } from "../../model/tool.ts";
import type { EngineOutcome } from "../contract.ts";
import type { Exit } from "./process.ts";
import type { Job } from "./job.ts";
import { LIMITS } from "../../limits.ts";
import { runInTerminal } from "./terminal.ts";
import { Tail } from "./tail.ts";

/** `/run COMMAND`: in a terminal of the editor where it offers them, else in a process of our own. */
export function runStep(job: Job, command: string): Promise<EngineOutcome | undefined> {
  const { cwd } = job.context;
  const input: ToolInput = {
    complete: true,
    sensitive: false,
    title: `Run ${command}`,
    kind: "execute",
    locations: [],
    name: "run_command",
    raw: { command, cwd },
  };
  return job.tool(input, async (toolCallId) => {
    const wish: Wish = {
      toolCallId,
      scope: { what: "run", value: command, until: "session" },
      deed: `run ${command}`,
    };
    await permit(job, wish);
    return job.services().terminal
      ? await inTerminal(job, toolCallId, input, command)
      : await inProcess(job, toolCallId, command);
  });
}

async function inTerminal(
  job: Job,
  toolCallId: string,
  input: ToolInput,
  command: string,
): Promise<ToolResult> {
  const { terminalId, output, truncated, ...exit } = await runInTerminal(
    job,
    command,
    (id) => job.sink.toolInput(toolCallId, { ...input, terminalId: id }),
  );
  return {
    ...endOf(exit),
    content: [{ kind: "terminal", terminalId }],
    // A later reader has no such terminal: the output itself is kept beside it.
    raw: { output, truncated, ...exit },
  };
}

async function inProcess(job: Job, toolCallId: string, command: string): Promise<ToolResult> {
  const { runShell } = await import("./process.ts");
  const tail = new Tail(LIMITS.cardLength);
  const exit = await runShell({
    command,
    cwd: job.context.cwd,
    signal: job.signal,
    output: async (stream, text) => {
      tail.push(text);
      await job.sink.toolOutput(toolCallId, stream, text);
    },
  });
  const shown = exit.signal === undefined ? tail.text() : `${tail.text()}[ended by ${exit.signal}]\n`;
  return { ...endOf(exit), content: shown === "" ? [] : [{ kind: "text", text: shown }] };
}

function endOf({ exitCode }: Exit): Pick<ToolResult, "status" | "diffs" | "exitCode"> {
  return {
    status: exitCode === 0 ? "completed" : "failed",
    diffs: [],
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}
