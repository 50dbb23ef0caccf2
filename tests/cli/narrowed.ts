/** What a compiled program does with its arguments, under Deno. */
import { parseCommand } from "../../src/cli/flags.ts";
import { serveNarrowed } from "../../src/cli/sandbox.ts";
import { takePermissions } from "../../src/cli/permissions.ts";

const { permissions, rest } = takePermissions(Deno.args);
const command = parseCommand(rest);
if (command.kind !== "serve") throw new Error(`"${command.kind}" is not served`);
Deno.exit(await serveNarrowed(command.options, permissions));
