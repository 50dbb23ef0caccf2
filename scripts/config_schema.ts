/** Writes `gangway.schema.json`, the schema of a configuration file, out of the one that is checked. */
import { configSchema } from "../src/cli/config.ts";

await Deno.writeTextFile(
  new URL("../gangway.schema.json", import.meta.url),
  `${JSON.stringify(configSchema(), null, 2)}\n`,
);
