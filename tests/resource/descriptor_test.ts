import { assertEquals } from "@std/assert";
import * as disk from "node:fs";
import { Descriptor } from "../../src/resource/descriptor.ts";

Deno.test({
  name: "[F1] opening waits for nobody: not for the other end of a pipe that took a file's place",
  ignore: Deno.build.os === "windows",
  fn: () => {
    let asked = 0;
    const watched = {
      ...disk,
      openSync: (_path: disk.PathLike, flags: disk.OpenMode) => {
        asked = Number(flags);
        return 1;
      },
    };
    Descriptor.open(watched, "/folder/file");
    const { O_NONBLOCK, O_WRONLY, O_RDWR } = disk.constants;
    assertEquals([asked & O_NONBLOCK, asked & (O_WRONLY | O_RDWR)], [O_NONBLOCK, 0]);
  },
});
