import { alive } from "../engine/gone.ts";

/** The variable by which processes are known that descend from one that was started with it. */
export const MARK = "GANGWAY_TEST_FAMILY";

/** All living processes that inherited this mark. Linux only. */
export async function familyOf(mark: string): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    if (environment.split("\0").includes(`${MARK}=${mark}`) && alive(Number(name))) found.push(Number(name));
  }
  return found;
}
