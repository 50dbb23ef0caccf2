import { basename } from "node:path";
import { AgentError, Editor, objectOf } from "./editor.ts";
import { commandLine, launchSelf, mainModule } from "./launch.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Screen } from "./screen.ts";
import { Viewer } from "./viewer.ts";
import { VERSION } from "./version.ts";

/** The demo's folder, its editor and what it prints. */
export class Stage {
  readonly project: string;
  readonly recipe: string;
  readonly viewer: Viewer;
  readonly #screen: Screen;
  readonly #place: string;
  #editor: Editor | undefined;
  #abilities: JsonObject = {};
  #acts = 0;

  constructor(screen: Screen, place: string) {
    this.#screen = screen;
    this.#place = place;
    this.project = `${place}/project`;
    this.recipe = `${this.project}/bread.md`;
    // The long names of a temporary folder and of this file say nothing.
    this.viewer = new Viewer(
      screen,
      (text) =>
        text.replaceAll(place, "DEMO").replaceAll(Deno.execPath(), "deno").replaceAll(
          mainModule(),
          basename(mainModule()),
        ),
    );
  }

  get editor(): Editor {
    if (this.#editor === undefined) throw new AgentError("The agent is not running");
    return this.#editor;
  }

  act(title: string): void {
    this.viewer.line();
    this.title(`${++this.#acts}. ${title}`);
  }

  title(text: string): void {
    this.viewer.line(this.#screen.paint("bold", text));
  }

  fact(text: string): void {
    this.viewer.say("", text, "dim");
  }

  /** Says what was found true; throws where it was not. */
  expect(truth: boolean, text: string): void {
    if (!truth) throw new AgentError(`it is not true that ${text}`);
    this.viewer.line(`  ${this.#screen.paint("green", "✓")} ${text}`);
  }

  /** Starts the agent with no more permissions than the demo needs. */
  async start(): Promise<void> {
    const place = [this.#place];
    const launch = launchSelf(
      { read: place, write: place, run: ["sh"] },
      ["--agent", "workbench", "--state", `${this.#place}/state`],
    );
    this.fact(`$ ${commandLine(launch)}`);
    const since = performance.now();
    this.#editor = new Editor(launch, {
      update: (_, update) => this.viewer.show(update),
      answer: (method, params): Json => {
        if (method !== "session/request_permission") {
          throw new AgentError(`This editor has no "${method}"`, -32601);
        }
        return this.viewer.allow(params);
      },
    });
    const answer = await this.editor.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: {},
      clientInfo: { name: "gangway-demo", title: "Gangway demo", version: VERSION },
    });
    this.#abilities = objectOf(answer.agentCapabilities);
    const { title, version } = objectOf(answer.agentInfo);
    this.fact(`${title} ${version} answered in ${elapsed(since)}, protocol ${answer.protocolVersion}`);
  }

  /** Sends a prompt, shows what arrives and returns the stop reason. */
  async prompt(sessionId: string, text: string, links: readonly JsonObject[] = []): Promise<string> {
    for (const line of text.split("\n")) this.viewer.say("you", line);
    for (const link of links) this.viewer.say("you", `[${link.name}]`);
    this.viewer.begin();
    const since = performance.now();
    const { stopReason } = await this.editor.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text }, ...links],
    });
    this.viewer.end();
    // How long a prompt took that somebody cancelled says nothing.
    this.fact(stopReason === "cancelled" ? "cancelled" : `${stopReason} after ${elapsed(since)}`);
    return String(stopReason);
  }

  /** Shows that the conversation itself came back, where the agent can show it. */
  async comeBack(sessionId: string): Promise<void> {
    if (this.#abilities.loadSession !== true) return;
    this.viewer.begin("quiet");
    await this.editor.request("session/load", { sessionId, cwd: this.project, mcpServers: [] });
    this.expect(
      this.viewer.text.includes("is spelt right now"),
      `session/load shows the whole conversation again: ${this.viewer.updates} updates`,
    );
  }

  /** Ends the agent's process, if there is one, and says how it ended. */
  async leave(): Promise<void> {
    const editor = this.#editor;
    if (editor === undefined) return;
    this.#editor = undefined;
    const { code } = await editor.close();
    this.fact(`process ${editor.pid} ended with code ${code}`);
  }
}

/** A time since then, for people. */
export function elapsed(since: number): string {
  const ms = performance.now() - since;
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}
