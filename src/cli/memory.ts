import type { AcpEngineOptions, AgentCommand } from "../engine/acp/mod.ts";
import { digestOf } from "../model/digest.ts";
import type { Json } from "../model/json.ts";
import type { Log } from "../model/log.ts";

/** What {@linkcode openMemory} needs. */
export interface MemoryParts {
  readonly engineId: string;
  readonly command: AgentCommand;
  readonly log: Log;
  /** The state folder; nothing is kept where absent. */
  readonly folder?: string;
}

/** Bytes of a file that is read at the start. */
const MOST = 256 * 1024;

/** What an agent said about itself at an earlier start, and where it is kept for the next one: a file for each command. */
export function openMemory(parts: MemoryParts): Pick<AcpEngineOptions, "remembered" | "remember"> {
  const { engineId, command, folder, log } = parts;
  if (folder === undefined) return {};
  const digest = digestOf(JSON.stringify([command.program, ...command.args])).slice(0, 12);
  const file = `${folder}/agents/${engineId}-${digest}.json`;
  const remembered = read(file);
  let writing = Promise.resolve();
  return {
    ...(remembered !== undefined && { remembered }),
    remember: (value) => {
      writing = writing.then(() => write(`${folder}/agents`, file, value)).catch((error) => {
        log.debug("What the agent said about itself could not be kept", { error: String(error) });
      });
    },
  };
}

/** Anything that cannot be read is learnt anew. */
function read(file: string): Json | undefined {
  try {
    if (Deno.statSync(file).size > MOST) return undefined;
    return JSON.parse(Deno.readTextFileSync(file));
  } catch {
    return undefined;
  }
}

async function write(folder: string, file: string, value: Json): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${Deno.pid}`;
  await Deno.writeTextFile(fresh, JSON.stringify(value), { mode: 0o600 });
  await Deno.rename(fresh, file);
}
