import { serve } from "./serve.ts";
import { type Command, parseCommand, type ServeOptions, splitLogin } from "./flags.ts";
import { type Permissions, takePermissions } from "./permissions.ts";
import { stderrSink } from "./log.ts";
import { VERSION } from "./version.ts";

/**
 * The program: understands the arguments, does what they say and resolves with the exit code. 0: done; 1: something is not as it
 * should be; 2: the arguments are wrong; 128+n: ended by signal n.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { login, own } = splitLogin(args);
  if (login !== undefined) {
    const words = Deno.build.standalone ? takePermissions(own).rest : own;
    return await run(parseCommand(words), async (options) => {
      const { login: logIn } = await import("./login.ts");
      return await logIn(options, login);
    });
  }
  // A compiled program cannot take Deno's own flags, so it knows the same names itself.
  if (!Deno.build.standalone) return await run(parseCommand(args), serve);
  const { permissions, rest } = takePermissions(args);
  return await run(
    parseCommand(rest),
    (options) => narrowed("serve", options, permissions),
    (options) => narrowed("host", options, permissions),
  );
}

async function narrowed(
  what: "serve" | "host",
  options: ServeOptions,
  permissions: Permissions,
): Promise<number> {
  const { serveNarrowed } = await import("./sandbox.ts");
  return await serveNarrowed(options, permissions, what);
}

type Work = (options: ServeOptions) => Promise<number>;

async function run(command: Command, serve: Work, beHost: Work = runHost): Promise<number> {
  switch (command.kind) {
    case "mistake":
      return await mistake(command.message);
    case "serve":
      return await serve(command.options);
    case "host":
      return command.action === "run" ? await beHost(command.options) : await show(command);
    default:
      return await show(command);
  }
}

async function runHost(options: ServeOptions): Promise<number> {
  const [{ runHost }, { stdoutScreen }] = await Promise.all([
    import("./daemon/run.ts"),
    import("./screen.ts"),
  ]);
  return await runHost(options, stdoutScreen());
}

/** The commands that speak to a person; loaded only for them. */
async function show(command: Exclude<Command, { kind: "mistake" | "serve" }>): Promise<number> {
  const { stdoutScreen } = await import("./screen.ts");
  const screen = stdoutScreen();
  switch (command.kind) {
    case "demo":
      return await (await import("./demo.ts")).demo(screen);
    case "doctor":
      return await (await import("./doctor.ts")).doctor(command.options, screen);
    case "help":
      return (await import("./help.ts")).help(screen, command.about);
    case "host":
      return await (await import("./daemon/command.ts")).hostCommand(command, screen);
    case "sessions":
      return await (await import("./sessions/command.ts")).sessionsCommand(command, screen);
    case "version":
      screen.line(`gangway ${VERSION}`);
      return 0;
  }
}

async function mistake(message: string): Promise<number> {
  const errors = stderrSink();
  errors.line(`gangway: ${message}`);
  await errors.close();
  return 2;
}
