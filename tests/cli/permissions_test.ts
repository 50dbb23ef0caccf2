import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Editor, withEditor } from "../support/editor.ts";
import { type Launch, ROOT, withFolder } from "../support/launch.ts";
import { link, openSession, tell } from "../support/talk.ts";
import { cardText, textOf } from "../support/screen.ts";
import { choose } from "../support/answers.ts";

/** What a start without some flag has to come to. */
interface Without {
  /** The start or the end of the flag that is taken away, and what of its list; all of it where absent. */
  readonly flag: string;
  readonly item?: string;
  /** What the user is told, wherever that is. */
  readonly told: string;
}

/** One command line of the README, by the comment above it. */
interface Pin {
  readonly title: string;
  /** Does what the flags are for and returns all that the user was told. */
  readonly use: (editor: Editor, place: Place) => Promise<string>;
  /** What `use` returns with all flags, or without one of them. */
  readonly works: string;
  readonly without: readonly Without[];
}

/** The folders that stand for `/home/you/…`. */
interface Place {
  readonly home: string;
  readonly project: string;
}

const HOME = "/home/you";

/** Milliseconds for each wait: two dozen starts share a machine with everything else that is tested. */
const deadlineMs = 60_000;

const PINS: readonly Pin[] = [
  {
    title: "Answers prompts. Sessions end with the process, which is said once on stderr.",
    use: say,
    works: "hello",
    without: [],
  },
  {
    title: "Keeps Sessions in a folder of your choice.",
    use: say,
    works: "hello",
    without: [
      { flag: "--allow-read", told: "--allow-read=/home/you/sessions" },
      { flag: "--allow-write", told: "--allow-write=/home/you/sessions" },
    ],
  },
  {
    title: "Keeps them in the place that your system has for it.",
    use: say,
    works: "hello",
    without: [
      { flag: "--allow-env", told: "--allow-env=XDG_STATE_HOME,HOME" },
      { flag: "--allow-read", told: "--allow-read=/home/you/.local/state/gangway" },
      { flag: "--allow-write", told: "--allow-write=/home/you/.local/state/gangway" },
    ],
  },
  {
    title: "Also reads files that a prompt links, in one project.",
    use: linkFile,
    works: "notes.md",
    without: [
      { flag: "--allow-read", item: "/home/you/sessions", told: "--allow-read=/home/you/sessions" },
      { flag: "--allow-read", item: "/home/you/project", told: "--allow-read=/home/you/project/notes.md" },
      { flag: "--allow-write", told: "--allow-write=/home/you/sessions" },
    ],
  },
  {
    title: "Also lets the agent write files there and run commands.",
    use: work,
    works: "ran: teh became the",
    without: [
      { flag: "--allow-read", item: "/home/you/sessions", told: "--allow-read=/home/you/sessions" },
      { flag: "--allow-read", item: "/home/you/project", told: "--allow-read" },
      { flag: "--allow-write", item: "/home/you/sessions", told: "--allow-write=/home/you/sessions" },
      { flag: "--allow-write", item: "/home/you/project", told: "--allow-write" },
      { flag: "--allow-run", told: "--allow-run" },
    ],
  },
];

Deno.test("[D1] every documented command line works with its flags, and without one of them says which is missing", async (t) => {
  const documented = await documentedLines();
  assertEquals([...documented.keys()], PINS.map(({ title }) => title), "the README's lines are all pinned");
  for (const pin of PINS) {
    const words = documented.get(pin.title) ?? [];
    await t.step(pin.title, async () => {
      const { told } = await start(words, pin);
      assertStringIncludes(told, pin.works);
      assert(
        !told.includes("--allow-") || pin.without.length === 0,
        `nothing is missing, but it says: ${told}`,
      );
    });
    for (const without of pin.without) {
      const { flag, item } = without;
      await t.step(`  without ${flag}${item === undefined ? "" : ` of ${item}`}`, async () => {
        const { told, home } = await start(words.flatMap((word) => withoutFlag(word, without)), pin);
        assertStringIncludes(told, without.told.replace(HOME, home));
      });
    }
    // Each flag and each item of a list is taken away by one of the steps above.
    const removable = words.filter((word) => word.startsWith("--allow-")).flatMap((word) => {
      const [flag = "", list = ""] = word.split("=");
      const items = list.split(",");
      return pin.without.some(({ item }) => item !== undefined) && items.length > 1
        ? items.map((item) => `${flag} ${item}`)
        : [flag];
    });
    await t.step("  no flag was forgotten", () => {
      assertEquals(
        pin.without.map(({ flag, item }) => item === undefined ? flag : `${flag} ${item}`),
        removable,
      );
    });
  }
});

Deno.test("[D1] without any permission it serves, keeps Sessions in memory and says so once on stderr", async () => {
  await withFolder(async (folder) => {
    await withEditor({
      launch: { ...launchOf(["deno", "run", "--no-prompt", "dist/gangway.js"]), cwd: folder },
      deadlineMs,
    }, async (editor) => {
      const sessionId = await openSession(editor, folder);
      assertEquals(textOf((await tell(editor, sessionId, "/say hello")).screen), "hello");
      await tell(editor, sessionId, "/say again");
      assertEquals((await editor.request("session/list", {}) as { sessions: unknown[] }).sessions.length, 1);
      await editor.finish();
      assertEquals(editor.stderr.trim().split("\n").length, 1);
      assertStringIncludes(editor.stderr, "kept in memory only");
    });
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  });
});

/** The README's command lines by their comments, in order. */
async function documentedLines(): Promise<ReadonlyMap<string, readonly string[]>> {
  const readme = await Deno.readTextFile(`${ROOT}README.md`);
  const block = readme.split("```sh\n").find((part) => part.includes("--allow-read="))?.split("```")[0] ?? "";
  return new Map(
    [...block.matchAll(/^# (.+)\n(.+)$/gm)].map(([, title = "", line = ""]) => [title, line.split(" ")]),
  );
}

/** A README's line as it is typed here: the program of this checkout, with a home of its own. */
function launchOf(words: readonly string[]): Launch {
  const [program, ...args] = words.map((word) => word.replace("dist/gangway.js", `${ROOT}mod.ts`));
  assertEquals(program, "deno");
  return { program: Deno.execPath(), args, env: { NO_COLOR: "1" } };
}

/** Deno's own cache, which would otherwise move with the home. */
async function cacheFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** Starts the line and uses it as the pin says; returns everything that the user was told. */
async function start(words: readonly string[], pin: Pin): Promise<{ told: string; home: string }> {
  let told = "";
  let place = "";
  await withFolder(async (home) => {
    place = home;
    const project = `${home}/project`;
    await Deno.mkdir(project);
    await Deno.writeTextFile(`${project}/notes.md`, "teh end\n");
    const launch = launchOf(words.map((word) => word.replaceAll(HOME, home)));
    const env = { ...launch.env, HOME: home, XDG_STATE_HOME: "", DENO_DIR: await cacheFolder() };
    await withEditor(
      { launch: { ...launch, env }, answers: choose("allow_once"), deadlineMs },
      async (editor) => {
        told += await pin.use(editor, { home, project });
        await editor.finish();
        told += editor.stderr;
      },
    );
  });
  return { told, home: place };
}

function withoutFlag(word: string, { flag, item }: Without): readonly string[] {
  if (!word.startsWith(`${flag}=`) && word !== flag) return [word];
  if (item === undefined) return [];
  const left = word.slice(flag.length + 1).split(",").filter((each) => each !== item);
  return left.length === 0 ? [] : [`${flag}=${left.join(",")}`];
}

/** What a failing request says, or what `use` returns. */
async function toldBy(use: () => Promise<string>): Promise<string> {
  try {
    return await use();
  } catch (error) {
    return error instanceof Error ? error.message.split("\n", 1)[0] ?? "" : String(error);
  }
}

function say(editor: Editor, { project }: Place): Promise<string> {
  return toldBy(async () => {
    const sessionId = await openSession(editor, project);
    return textOf((await tell(editor, sessionId, "/say hello")).screen);
  });
}

function linkFile(editor: Editor, { project }: Place): Promise<string> {
  return toldBy(async () => {
    const sessionId = await openSession(editor, project);
    const { answer, screen } = await tell(editor, sessionId, "Look", link(`${project}/notes.md`));
    return "error" in answer ? answer.error.message : textOf(screen);
  });
}

function work(editor: Editor, { project }: Place): Promise<string> {
  return toldBy(async () => {
    const sessionId = await openSession(editor, project);
    const { screen } = await tell(
      editor,
      sessionId,
      '/edit notes.md teh => the\n/run echo "ran: teh became $(cut -c1-3 notes.md)"',
    );
    return screen.cards.map(cardText).join("\n");
  });
}
