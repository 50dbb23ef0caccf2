import { assert, assertEquals } from "@std/assert";
import { alive, gone } from "../../engine/gone.ts";
import { gangway, type Launch, script, withFolder } from "../../support/launch.ts";
import type { HostStatus } from "../../../src/cli/daemon/status.ts";
import { statusOf, WishRefused } from "../../../src/cli/daemon/caller.ts";
import { systemClock } from "../../../src/system.ts";

/** What a command came to. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A state folder whose Host editors reach by `--host auto`. */
export class House {
  /** Where Sessions work. */
  readonly cwd: string;
  readonly state: string;
  /** Process ids of Hosts that were seen. */
  readonly #hosts = new Set<number>();

  constructor(folder: string) {
    this.cwd = folder;
    this.state = `${folder}/state`;
  }

  /** Gangway as an editor starts it, with the workbench. */
  editor(...args: string[]): Launch {
    return gangway("--state", this.state, "--host", "auto", ...args);
  }

  /** The same with an agent: `tests/process/daemon/agent.ts` with these words. */
  withAgent(words: readonly string[] = [], env: Record<string, string> = {}, ...args: string[]): Launch {
    const launch = script(
      "mod.ts",
      "--state",
      this.state,
      "--host",
      "auto",
      ...args,
      "--",
      ...agentCommand(words),
    );
    return { ...launch, env: { ...launch.env, ...env } };
  }

  /** Runs a command on this state folder to its end. */
  async run(...args: string[]): Promise<Ended> {
    const { program, args: words, env } = script("mod.ts", ...args, "--state", this.state);
    const command = new Deno.Command(program, { args: [...words], env: { ...env }, stdin: "null" });
    const { code, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  /** The Host that runs. */
  async status(): Promise<HostStatus | undefined> {
    try {
      const status = await statusOf({ kind: "state", folder: this.state }, new AbortController().signal);
      if (status !== undefined) this.#hosts.add(status.pid);
      return status;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      // It is leaving, and serves nobody any more.
      if (error instanceof WishRefused && error.reason === "stopping") return undefined;
      throw error;
    }
  }

  /** The process id of the Host that runs. */
  async hostPid(): Promise<number> {
    const status = await this.status();
    assert(status !== undefined, "no Host runs");
    return status.pid;
  }

  /** Waits until the Host's status is so. */
  async until(holds: (status: HostStatus | undefined) => boolean, what: string): Promise<void> {
    const deadline = systemClock.now() + 15_000;
    for (let status = await this.status(); !holds(status); status = await this.status()) {
      assert(systemClock.now() < deadline, `${what} did not come: ${JSON.stringify(status)}`);
      await systemClock.sleep(20);
    }
  }

  /** Processes, ours aside, that were started with this folder among their words. */
  processes(): readonly number[] {
    return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
      if (!Number.isInteger(pid) || pid === Deno.pid) return false;
      try {
        return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(this.cwd) && alive(pid);
      } catch {
        return false;
      }
    });
  }

  /** Ends the Host and sees that nothing is left. */
  async leave(): Promise<void> {
    if (await this.status() !== undefined) await this.run("host", "stop");
    await gone([...this.#hosts]);
    await gone(this.processes());
    assertEquals(this.processes(), []);
  }

  /** Ends whatever is left, after a failure. */
  clear(): void {
    for (const pid of this.processes()) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch {
        // It was quicker.
      }
    }
  }
}

/** The words that start the test's agent; whoever looks for left processes finds them by the folder among them. */
export function agentCommand(words: readonly string[] = []): readonly string[] {
  const { program, args } = script("tests/process/daemon/agent.ts", ...words);
  return [program, ...args];
}

/** Gives a house to `body`; afterwards nothing of it may be left. */
export async function withHouse(body: (house: House) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const house = new House(folder);
    try {
      await body(house);
      await house.leave();
    } finally {
      house.clear();
    }
  });
}
