import { assert } from "@std/assert";
import { systemClock } from "../../src/system.ts";

/** Waits until none of the processes is alive; fails where one stays. A zombie nobody has waited for counts as gone. */
export async function gone(pids: readonly number[]): Promise<void> {
  const deadline = systemClock.now() + 5000;
  for (const pid of pids) {
    assert(Number.isInteger(pid) && pid > 1, `${pid} is no process`);
    while (alive(pid)) {
      assert(systemClock.now() < deadline, `Process ${pid} is still there`);
      await systemClock.turn();
    }
  }
}

/** Whether a process is there and works. */
export function alive(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}
