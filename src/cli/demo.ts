import { mainModule } from "./launch.ts";
import { basename } from "node:path";
import { elapsed, Stage } from "./stage.ts";
import type { Json } from "../model/json.ts";
import { objectOf } from "./editor.ts";
import { pathToFileURL } from "node:url";
import type { Screen } from "./screen.ts";
import { VERSION } from "./version.ts";

const RECIPE = `# Bread

500 g flour
350 g watr
10 g salt

Knead, wait, bake.
`;

/**
 * Starts this program as an editor would, speaks the protocol with it and prints what arrives. Returns 0 when everything was as it
 * should be, else 1 with a sentence. Leaves nothing behind.
 */
export async function demo(screen: Screen): Promise<number> {
  const place = await temporaryFolder();
  if (place === undefined) {
    screen.line("The demo starts Gangway in a temporary folder: start it with -A, which allows that");
    return 1;
  }
  const stage = new Stage(screen, place);
  try {
    await Deno.mkdir(stage.project);
    await Deno.writeTextFile(stage.recipe, RECIPE);
    await play(stage);
    await stage.leave();
    screen.line();
    screen.line(screen.paint("green", "All of that was true."));
    screen.line(`"${doctorCommand()}" prints the settings for your editor.`);
    return 0;
  } catch (error) {
    screen.line();
    screen.line(
      screen.paint("red", `The demo failed: ${error instanceof Error ? error.message : String(error)}`),
    );
    return 1;
  } finally {
    await stage.leave();
    await Deno.remove(place, { recursive: true });
  }
}

/** The real path of a new folder; undefined where the permissions for that are missing. */
async function temporaryFolder(): Promise<string | undefined> {
  try {
    return await Deno.realPath(await Deno.makeTempDir({ prefix: "gangway-demo-" }));
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

async function play(stage: Stage): Promise<void> {
  stage.title(`Gangway ${VERSION}: what an editor sees`);
  stage.viewer.line("The workbench plays the agent: no model, no account, no network.");
  stage.viewer.line("DEMO stands for a temporary folder.");

  stage.act("The editor starts Gangway and opens a Session");
  await stage.start();
  const created = await stage.editor.request("session/new", { cwd: stage.project, mcpServers: [] });
  const sessionId = String(created.sessionId);
  const modes = objectOf(created.modes);
  stage.fact(`Session in ${stage.project}, mode "${modes.currentModeId ?? "none"}"`);

  stage.act("A prompt links a file");
  await stage.prompt(sessionId, "What did I link?", [{
    type: "resource_link",
    name: "bread.md",
    uri: pathToFileURL(stage.recipe).href,
  }]);
  const digest = await sha256(await Deno.readFile(stage.recipe));
  stage.expect(stage.viewer.text.includes(digest), "the agent has the file: the sha256 is the one on disk");

  stage.act("The agent thinks, plans, asks and edits");
  await stage.prompt(
    sessionId,
    [
      "/title Mend the recipe",
      "/think The recipe says watr. One letter is missing.",
      "/plan Mend the recipe | Show the list",
      "/edit bread.md watr => water",
      "/run grep -n water bread.md",
      "/say Done: **water** is spelt right now.",
    ].join("\n"),
  );
  const mended = await Deno.readTextFile(stage.recipe);
  stage.expect(mended === RECIPE.replace("watr", "water"), "the file on disk is mended");
  stage.expect(stage.viewer.asked === 2, "it asked before writing and before running");

  stage.act("A prompt is cancelled in the middle");
  const begun = stage.viewer.next("agent_message_chunk");
  const answer = stage.prompt(sessionId, "/say This will take a minute …\n/sleep 60000\n/say Never said.");
  await Promise.race([begun, answer]);
  const since = performance.now();
  stage.editor.notify("session/cancel", { sessionId });
  stage.viewer.end();
  stage.viewer.say("editor", "cancels");
  stage.expect(await answer === "cancelled", `the prompt ended ${elapsed(since)} after the cancel`);

  stage.act("The editor closes. Its process is gone, the Session is not");
  await stage.editor.request("session/close", { sessionId });
  await stage.leave();
  await stage.start();
  const { sessions } = await stage.editor.request("session/list", { cwd: stage.project });
  const found = (Array.isArray(sessions) ? sessions : []).map(objectOf).find((each) =>
    each.sessionId === sessionId
  );
  stage.expect(
    found !== undefined,
    `the new process lists it: "${found?.title ?? "without a title"}", used at ${timeOf(found?.updatedAt)}`,
  );
  await stage.comeBack(sessionId);
}

function timeOf(date: Json | undefined): string {
  return typeof date === "string" ? new Date(date).toLocaleTimeString() : "an unknown time";
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** How doctor is started where the demo was. */
function doctorCommand(): string {
  return Deno.build.standalone ? "gangway doctor" : `deno run -A ${basename(mainModule())} doctor`;
}
