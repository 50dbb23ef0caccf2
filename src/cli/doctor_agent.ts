import type { AgentCommand } from "../engine/acp/mod.ts";
import { type Probe, probeAgent } from "../engine/acp/probe.ts";
import type { Screen } from "./screen.ts";
import { VERSION } from "./version.ts";

/** What the agent is asked: short, and nothing that needs a tool. */
const PROMPT = "Say hello in one short sentence.";
/** Milliseconds for a start and an answer. */
const PATIENCE_MS = 120_000;

/** Starts an agent, sends it a prompt and says what it saw. Resolves with whether it answered and kept to the protocol. */
export async function describeAgent(
  command: AgentCommand,
  cwd: string,
  screen: Screen,
): Promise<boolean> {
  const probe = await probeAgent({
    command,
    cwd,
    prompt: PROMPT,
    version: VERSION,
    ms: PATIENCE_MS,
  });
  for (const line of abilities(probe)) screen.line(`  ${line}`);
  if (probe.openMs !== undefined) screen.line(`  Opened a Session after ${probe.openMs} ms`);
  for (const option of probe.options) screen.line(`    ${option}`);
  const answered = probe.outcome?.kind === "completed";
  if (probe.outcome?.kind === "completed") {
    screen.line(`  Answered the prompt "${PROMPT}" after ${probe.answerMs} ms: ${probe.outcome.stopReason}`);
    if (probe.text !== "") screen.line(`    ${oneLine(probe.text)}`);
  }
  if (probe.failure !== undefined) {
    screen.line(screen.paint("red", `  Failed: ${probe.failure}`));
    for (const line of probe.lastWords.trimEnd().split("\n").slice(-8)) {
      if (line !== "") screen.line(screen.paint("dim", `    stderr: ${oneLine(line)}`));
    }
  }
  for (const { times, what } of probe.faults) {
    screen.line(screen.paint("yellow", `  ${times} ×  ${what}`));
  }
  if (answered && probe.faults.length === 0) screen.line("  It kept to the protocol");
  return answered;
}

function* abilities({ hello, helloMs }: Probe): Generator<string> {
  if (hello === undefined) return;
  const { title, name, version, load, resume } = hello;
  const called = [title ?? name ?? "It did not say its name", version].filter(Boolean).join(" ");
  yield `${called}: initialize answered after ${helloMs} ms`;
  const takes = [
    hello.prompt.image && "images",
    hello.prompt.audio && "audio",
    hello.prompt.embeddedContext && "embedded files",
  ].filter(Boolean);
  yield `Takes text and links${
    takes.length > 0 ? `, ${takes.join(", ")}` : "; the rest goes to it as links"
  }`;
  yield load || resume
    ? "Goes on with Sessions of an earlier process"
    : "Does not go on with Sessions of an earlier process: it begins those without memory";
  const logins = hello.authMethods.map((method) => String(method.name ?? method.id));
  if (logins.length > 0) yield `Ways to log in: ${logins.join(", ")}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
