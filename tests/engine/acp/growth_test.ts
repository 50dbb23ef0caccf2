import { assert, assertEquals } from "@std/assert";
import { grow } from "./growth.ts";
import { withFolder } from "../../support/launch.ts";

Deno.test({
  name: "[E2] [E3] many prompts leave no process, no handle and little memory behind",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await withFolder(async (folder) => {
      const [first, last] = await grow([100, 300], folder);
      assert(first !== undefined && last !== undefined);
      assertEquals([last.handles, last.processes], [first.handles, first.processes]);
      const grown = last.memory - first.memory;
      assert(grown < 32 * 1024 * 1024, `Two hundred prompts took ${grown} bytes`);
    });
  },
});
