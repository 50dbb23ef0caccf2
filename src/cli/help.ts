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
                   with -- AGENT or --agent NAME also try that agent
  host             Be a Host that outlives editors: host --help
  sessions         List, show and delete Sessions: sessions --help
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
  --host WHICH     none: the Host ends with the editor (default); auto: one that
                   goes on, started if need be; or the socket of one
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
                                   macOS: HOME; Windows: LOCALAPPDATA,APPDATA
  Read files that a prompt links   --allow-read=PROJECT
  Let the agent write files        --allow-write=PROJECT
  Let the agent run commands       --allow-run
  Start an agent                   --allow-run=sh
  Write a log file                 --allow-write=FILE
A compiled gangway knows --allow-read=@workspace: each Session's own folders.

Exit codes: 0 done, 1 something is not as it should be, 2 a flag is wrong,
128+n ended by signal n.`;
}

/** What `host --help` says. */
export const HOST_HELP: string = `Usage: gangway host [run|status|stop] [flags]

A Host in a process of its own: close the editor, and the work goes on. Editors
reach it by gangway --host auto, which also starts it where none runs; so there
is no need to start it by hand, unless to give it permissions of its own.

  run              Be the Host of the state folder, until stopped (default)
  status           Say how the Host is. Ends with 0, or with 1 where none runs
  stop             End it: Turns at work are interrupted and stay in their
                   Sessions

Flags
  --state FOLDER   Whose Host (default: your system's place for Sessions)
  --idle SECONDS   Leave after so long without work and editors (default: never;
                   900 where an editor's Gangway started it)
  --transport T    socket (default), or web: a WebSocket on 127.0.0.1, where
                   there are no sockets with owners (default on Windows)
  --log-file FILE  Where its log goes (default: host/log in the state folder)
  --log-level L    debug, info (default), warn or error
  --json           status for programs

It needs what the editors' agents need, --allow-net for its socket, and
--allow-env. An agent gets PATH, HOME, LANG and their like from the editor whose
Session it works for, and the variables that "passEnv" names in the
configuration; nothing else of an editor's environment.`;

/** What `sessions --help` says. */
export const SESSIONS_HELP: string = `Usage: gangway sessions [list|show ID|delete ID] [flags]

  list             The newest Sessions (default)
  show ID          A Session with its conversation; the beginning of its id, of
                   four characters or more, will do
  delete ID        Delete a Session with all that it has

Flags
  --all            List all of them, however many
  --json           For programs
  --state FOLDER   Where they are kept (default: your system's place for them)

It asks the Host where one runs, and reads the state folder where none does.`;

/** Prints {@linkcode helpText}, or what there is about a command. */
export function help(screen: Screen, about?: "host" | "sessions"): number {
  screen.line(about === undefined ? helpText() : about === "host" ? HOST_HELP : SESSIONS_HELP);
  return 0;
}
