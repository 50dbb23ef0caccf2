import { commandLine, launchSelf } from "./launch.ts";
import { Editor } from "./editor.ts";
import { editorLaunch, isPassing } from "./editor_launch.ts";
import { editorSettings } from "./editors.ts";
import { hostChoice, type ServeOptions } from "./flags.ts";
import { openRoster, type RosterOrRefusal, WORKBENCH } from "./roster.ts";
import { planStore, type StorePlan, thisMachine } from "./state.ts";
import { type Screen, wrap } from "./screen.ts";
import { silentLog } from "../model/log.ts";
import { VERSION } from "./version.ts";

/** Says in plain words what works here. Returns 0, or 1 where something does not. */
export async function doctor(options: ServeOptions, screen: Screen): Promise<number> {
  const { os, arch } = Deno.build;
  const section = (title: string) => {
    screen.line();
    screen.line(screen.paint("bold", title));
  };
  // A sentence that a terminal has no room for goes on below itself.
  const say = (sentence: string) => {
    for (const [at, line] of wrap(sentence, screen.width - 4).entries()) {
      screen.line(`${at === 0 ? "  " : "    "}${line}`);
    }
  };
  const machine = thisMachine();
  const roster = await openRoster({ options, machine, log: silentLog });
  screen.line(screen.paint("bold", `Gangway ${VERSION}`));
  screen.line(`  Deno ${Deno.version.deno}, V8 ${Deno.version.v8}, ${os} ${arch}`);
  if (roster.kind === "refused") screen.line(screen.paint("red", `  ${roster.why}`));
  else say(`Agent: ${describeChoice(roster, options)}`);

  section("Sessions");
  const plan = planStore(options.store, machine);
  const store = await describeStore(plan);
  for (const line of store.lines) say(line);
  if (plan.kind === "folder") say(await describeRunning(plan.folder));

  section("What this run may do");
  const rows = abilities(plan, machine.cwd);
  const width = Math.max(...rows.map(({ ability }) => ability.length));
  for (const { ability, granted, flag } of rows) {
    const mark = granted ? screen.paint("green", "yes") : screen.paint("yellow", "no ");
    screen.line(`  ${mark}  ${ability.padEnd(width)}  ${granted ? "" : flag}`.trimEnd());
  }

  section("Handshake");
  const healthy = await handshake(machine.cwd, screen);

  // What does not start is nothing for an editor.
  if (roster.kind === "refused") return 1;
  const agentHealthy = await tryAgent(roster, options, machine.cwd, screen, section);

  section("Settings for your editor");
  const launch = editorLaunch(options, options.host ?? hostChoice(roster.host ?? "none"), machine);
  screen.line(`  They start: ${commandLine(launch)}`);
  say("Narrow them by naming folders, as in --allow-read=/home/you/projects.");
  if (isPassing(launch.program)) {
    say(
      `That deno lies where npx keeps programs for a while; "npm install --global deno" gives one that stays.`,
    );
  }
  for (const { editor, place, text } of editorSettings(launch)) {
    screen.line();
    screen.line(`  ${screen.paint("cyan", editor)} (${place})`);
    for (const line of text.split("\n")) screen.line(`    ${line}`);
  }
  return healthy && agentHealthy && store.usable ? 0 : 1;
}

type Roster = RosterOrRefusal & { kind: "roster" };

/** Which agent new Sessions have. */
function describeChoice({ commands, defaultEngine }: Roster, options: ServeOptions): string {
  const agent = commands[defaultEngine];
  if (agent === undefined) {
    return `the ${WORKBENCH}, which does real work without a model; -- AGENT ARGS… tries another`;
  }
  const line = commandLine(agent);
  if (options.command !== undefined) return line;
  const more = options.agent === undefined ? `; --agent ${defaultEngine} tries it` : "";
  return `"${defaultEngine}" of the configuration: ${line}${more}`;
}

/** Whether a Host in a process of its own runs for a state folder. */
async function describeRunning(folder: string): Promise<string> {
  const { statusOf } = await import("./daemon/caller.ts");
  try {
    const found = await statusOf({ kind: "state", folder }, new AbortController().signal);
    if (found === undefined) return "No Host in a process of its own is running";
    const { pid, version, connections, sessions } = found;
    const counts = `editors ${connections}, open Sessions ${sessions.length}`;
    return `A Host in a process of its own is running: process ${pid}, version ${version}, ${counts}`;
  } catch (error) {
    return `A Host in a process of its own cannot be asked: ${
      error instanceof Error ? error.message : String(error)
    }`;
  }
}

/** Tries the agent that the command line names, if it does, and says what it saw. */
async function tryAgent(
  { commands, defaultEngine }: Roster,
  { agent, command }: ServeOptions,
  cwd: string,
  screen: Screen,
  section: (title: string) => void,
): Promise<boolean> {
  const tried = commands[defaultEngine];
  if (tried === undefined || (agent ?? command) === undefined) return true;
  const { describeAgent } = await import("./doctor_agent.ts");
  section("The agent");
  return await describeAgent(tried, cwd, screen);
}

/** What is said of a place for Sessions, and whether they can be kept there. */
interface StoreReport {
  readonly lines: readonly string[];
  readonly usable: boolean;
}

async function describeStore(plan: StorePlan): Promise<StoreReport> {
  switch (plan.kind) {
    case "memory":
      return { lines: [plan.why ?? "Kept in memory only, as asked"], usable: true };
    case "refused":
      return { lines: [plan.why], usable: false };
    case "folder": {
      const { line, usable } = await describeFolder(plan.folder);
      const lines = usable ? [`Kept in ${plan.folder}`, line] : [`Not kept in ${plan.folder}: ${line}`];
      return { lines, usable };
    }
  }
}

async function describeFolder(folder: string): Promise<{ line: string; usable: boolean }> {
  try {
    const { isDirectory, uid, mode } = await Deno.stat(folder);
    if (!isDirectory) return { line: "it is not a folder; name another one with --state", usable: false };
    if (uid === null || mode === null) return { line: "The folder exists", usable: true };
    const others = (mode & 0o077) === 0
      ? "nobody else may look into it"
      : "others may look into it: chmod 700 it";
    const own = Deno.permissions.querySync({ name: "sys", kind: "uid" }).state === "granted"
      ? Deno.uid()
      : null;
    if (own !== null && own !== uid) {
      return {
        line: `it belongs to user ${uid}, who is not you; name another one with --state`,
        usable: false,
      };
    }
    const owner = own === null ? `user ${uid}` : `you (user ${uid})`;
    return { line: `The folder belongs to ${owner}; ${others}`, usable: true };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return { line: "The folder does not exist yet: the first Session makes it", usable: true };
    }
    const reason = error instanceof Error ? error.message : String(error);
    return { line: `it cannot be looked at: ${reason}`, usable: false };
  }
}

/** What the granted permissions allow, and the flag that would allow it. */
function abilities(
  plan: StorePlan,
  cwd: string,
): readonly { ability: string; granted: boolean; flag: string }[] {
  const granted = (descriptor: Deno.PermissionDescriptor) =>
    Deno.permissions.querySync(descriptor).state === "granted";
  return [
    {
      ability: "Answer prompts",
      granted: true,
      flag: "",
    },
    {
      ability: "Keep Sessions when the process ends",
      granted: plan.kind === "folder",
      flag: plan.kind === "folder" ? "" : "see above",
    },
    {
      ability: `Read linked files in ${cwd}`,
      granted: granted({ name: "read", path: cwd }),
      flag: `--allow-read=${cwd}`,
    },
    {
      ability: `Let an agent write files in ${cwd}`,
      granted: granted({ name: "write", path: cwd }),
      flag: `--allow-write=${cwd}`,
    },
    {
      ability: "Let an agent run commands",
      granted: granted({ name: "run", command: "sh" }),
      flag: "--allow-run=sh",
    },
  ];
}

/** Starts itself with no permission at all and has a short conversation. */
async function handshake(cwd: string, screen: Screen): Promise<boolean> {
  if (Deno.permissions.querySync({ name: "run", command: Deno.execPath() }).state !== "granted") {
    screen.line("  Not tried: starting itself needs --allow-run");
    return true;
  }
  const since = performance.now();
  const elapsed = () => `${Math.round(performance.now() - since)} ms`;
  const editor = new Editor(launchSelf({}, ["--memory"]));
  try {
    const { protocolVersion } = await editor.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: {},
      clientInfo: { name: "gangway-doctor", version: VERSION },
    });
    screen.line(`  Started itself: initialize answered after ${elapsed()}, protocol ${protocolVersion}`);
    const { sessionId } = await editor.request("session/new", { cwd, mcpServers: [] });
    const { stopReason } = await editor.request("session/prompt", {
      sessionId: sessionId ?? null,
      prompt: [{ type: "text", text: "/say Hello" }],
    });
    screen.line(`  A prompt was answered: ${stopReason} after ${elapsed()}`);
    const { code } = await editor.close();
    screen.line(`  Its process ended with code ${code} after ${elapsed()}`);
    return stopReason === "end_turn" && code === 0;
  } catch (error) {
    await editor.close();
    screen.line(screen.paint("red", `  Failed: ${error instanceof Error ? error.message : String(error)}`));
    return false;
  }
}
