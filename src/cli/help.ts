import type { Screen } from "./screen.ts";
import { VERSION } from "./version.ts";

/** What `--help` says. Lines stay under 80 columns. */
export function helpText(): string {
  return `Gangway ${VERSION}: keeps a coding agent's Session alive when the editor is not.

Usage: gangway [command] [flags] [-- AGENT ARGS…]

Commands
  serve            Speak the Agent Client Protocol on stdin and stdout (default)
  demo             Show what an editor sees, with a child of this program
  doctor           Say what works here, and print settings for your editor;
                   with -- AGENT also try that agent
  help             This text

Flags
  -- AGENT ARGS…   The agent for new Sessions, by its command: any that speaks
                   the protocol on stdin and stdout, as in -- gemini --acp
  --agent NAME     The agent for new Sessions, by its name: one of the
                   configuration file, or workbench (default), which does real
                   work without a model, to try an editor with
  --config FILE    The configuration file (default: gangway/gangway.json in
                   your configuration folder, where it may be read)
  --state FOLDER   Where Sessions are kept (default: your system's place for it)
  --memory         Keep Sessions in memory only
  --log-level L    debug, info, warn or error; to stderr unless a file is named
  --log-file FILE  Where the log goes; info unless a level is named
  --version, -V    The version
  --help, -h       This text

Permissions: Gangway never asks. Under Deno put the flags before the program;
a compiled gangway takes the same flags itself.
  Answer prompts                   nothing
  Keep Sessions                    --allow-read=FOLDER --allow-write=FOLDER
    in the default place, also     --allow-env=XDG_STATE_HOME,HOME
  Read files that a prompt links   --allow-read=PROJECT
  Let the agent write files        --allow-write=PROJECT
  Let the agent run commands       --allow-run
  Start an agent                   --allow-run=sh
  Write a log file                 --allow-write=FILE
A compiled gangway knows --allow-read=@workspace: each Session's own folders.

Exit codes: 0 done, 1 something is not as it should be, 2 a flag is wrong,
128+n ended by signal n.`;
}

/** Prints {@linkcode helpText}. */
export function help(screen: Screen): number {
  screen.line(helpText());
  return 0;
}
