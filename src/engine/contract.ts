import type { Answer, Question } from "../model/question.ts";
import type { ArtifactReference } from "../model/artifact.ts";
import type { Block } from "../model/block.ts";
import type { Channel } from "../model/message.ts";
import type { ClientServices, EngineProfile, McpServer } from "../host/contract.ts";
import type { Command, PlanEntry, Usage } from "../model/plan.ts";
import type { Compaction } from "../model/compaction.ts";
import type { Config } from "../model/config.ts";
import type { ExtensionAnswer, ExtensionMessage } from "../model/extension.ts";
import type { EngineArchive } from "./archive.ts";
import type { Failure, StopReason } from "../model/run.ts";
import type { Json, JsonObject, Meta } from "../model/json.ts";
import type { Remembered } from "./remembered.ts";
import type { SessionMetas } from "../model/metas.ts";
import type { ToolInput, ToolResult } from "../model/tool.ts";
import type { TurnInput } from "../model/prompt.ts";

/** What a Session gives its Engine. The Host owns it; it lives until the Engine's Session is closed. */
export interface EngineContext {
  /** The Host's own id of the Session. */
  readonly sessionId: string;
  /** Absolute real path of the working directory. */
  readonly cwd: string;
  /** Additional workspace roots, without `cwd`. */
  readonly roots: readonly string[];
  /** In ACP's own shape; they may hold secrets. */
  readonly mcpServers: readonly McpServer[];
  /** What came with the Session's creation, load or resume in this process, unread. */
  readonly meta?: Meta;
  /** What the Engine gave to `state` last, in this process or an earlier one. */
  readonly restored?: Json;
  /** The present settings. */
  config(): Config;
  /** At most `length` bytes of an Artifact of this Session. */
  readArtifact(artifact: ArtifactReference, offset: number, length: number): Promise<Uint8Array>;
  /**
   * What was said and done in Turns that have ended, newest last: the newest whose texts have at most `maxBytes` of UTF-8 together. A
   * message of more than a quarter of that is told by its length.
   */
  history(maxBytes: number): Promise<readonly Remembered[]>;
  /**
   * Keeps at most 64 KiB of JSON for the next opening of the Session. `keptAs` is what an Engine with an archive calls the Session
   * there from now on, so that lists do not show it twice; where it is absent what was said before stays.
   */
  state(value: Json, keptAs?: string): Promise<void>;
  /** Announcements that belong to no Turn. `meta` is passed through unread, here and below. */
  commands(commands: readonly Command[], meta?: Meta): Promise<void>;
  /** How full the context window is, between Turns. */
  usage(usage: Usage): Promise<void>;
  /** A title of the Session, for lists. */
  title(title: string, meta?: Meta): Promise<void>;
  /** New options or new choices; their values are the Host's own. */
  configured(options: Config["options"], metas?: Pick<SessionMetas, "options" | "mode">): Promise<void>;
  /** What a person was sent to a page for (a `url` question) is done. */
  elicited(elicitationId: string): Promise<void>;
  /**
   * Opens a background Run for what an Engine has to say while no Turn runs; its parent is the last Turn, whose presenter shows it.
   * Resolves with its runId, or with undefined where this process has had no Turn of the Session: there is nobody to show it to.
   */
  beside(
    work: (sink: EngineSink, signal: AbortSignal) => Promise<EngineOutcome>,
  ): Promise<string | undefined>;
}

/** One Turn's work as the Host hands it out. */
export interface EngineTurn {
  /** The Turn. */
  readonly turnId: string;
  /** This execution of it. */
  readonly runId: string;
  /** What the prompt holds. */
  readonly input: TurnInput;
  /** What the presenting Client offers; all false where nobody presents. */
  services(): ClientServices;
}

/**
 * Where an Engine puts what it does. Each call resolves when the Host has taken it, which is the back-pressure: await it.
 * After the Turn's signal aborted or its Run ended, calls are ignored and resolve.
 */
export interface EngineSink {
  /**
   * The next piece of a message. The first piece of an id opens it; neither a channel nor `meta` ever changes under an id, but the parts of
   * a message may differ (see {@linkcode partId}).
   */
  message(messageId: string, channel: Channel, text: string, meta?: Meta): Promise<void>;
  /** A part of a message that is not just text, whole. Its id is used once. Too large a block is kept as a link or a name. */
  content(contentId: string, channel: Channel, block: Block, meta?: Meta): Promise<void>;
  /** Ends a message. A Run's end ends what is open. */
  messageComplete(messageId: string): Promise<void>;
  /** Takes back what was said under this id and begins it anew. A Client that was shown text gets an error for that. */
  messageReset(messageId: string): Promise<void>;
  /** Ends a message in favour of another id; what was shown stays. */
  messageSuperseded(messageId: string, by: string): Promise<void>;
  /** Announces a tool. `parent` names the tool that called it. */
  toolStart(toolCallId: string, input: ToolInput, parent?: string): Promise<void>;
  /** Replaces the tool's input, from preview to complete. */
  toolInput(toolCallId: string, input: ToolInput): Promise<void>;
  /** Output as it appears. */
  toolOutput(toolCallId: string, stream: "stdout" | "stderr", text: string): Promise<void>;
  /** A line about how far the tool is. */
  toolProgress(toolCallId: string, message: string): Promise<void>;
  /** The tool's end. Tools without one when the Run ends are recorded as interrupted. */
  toolResult(toolCallId: string, result: ToolResult): Promise<void>;
  /** The whole plan; it replaces the one before. */
  plan(entries: readonly PlanEntry[], meta?: Meta): Promise<void>;
  /** How full the context window is. */
  usage(usage: Usage): Promise<void>;
  /** Something to tell the user that is no part of the answer. */
  notice(severity: "info" | "warning" | "error", title: string, text?: string, meta?: Meta): Promise<void>;
  /** Room is made in the context. With `append` that is added to the summary. Only how it ended is kept. */
  compaction(compaction: Compaction, append?: Block): Promise<void>;
  /**
   * Asks a person and waits. Grants that fit answer at once. Rejects with the signal's reason when the Turn is stopped, or when `signal`
   * aborts: then the question is withdrawn from whoever has it.
   */
  ask(question: Question, signal?: AbortSignal): Promise<Answer>;
  /**
   * Calls `fs/*` or `terminal/*` of the presenting editor; `sessionId` is filled in on the way. Rejects with `unavailable` where
   * nobody presents, with the editor's own sentence where it refuses, and with the signal's reason when the Turn is stopped or
   * `signal` aborts. `terminal/kill` and `terminal/release` go out after a stop too, until the Run has ended, so that an Engine can
   * leave nothing at the editor.
   */
  call(method: string, params: JsonObject, signal?: AbortSignal): Promise<Json>;
  /**
   * Opens a background Run whose parent is this one and gives its sink; `work` runs beside the foreground and outlives
   * it. Resolves with the new runId when it is recorded.
   */
  background(work: (sink: EngineSink, signal: AbortSignal) => Promise<EngineOutcome>): Promise<string>;
}

/** How an Engine says that a Turn ended. Stopping is the Host's own knowledge: a stopped Turn's outcome is ignored. */
export type EngineOutcome =
  | { readonly kind: "completed"; readonly stopReason: StopReason; readonly meta?: Meta }
  | { readonly kind: "failed"; readonly failure: Failure };

/** A Session inside an Engine. One Turn at a time is in the foreground. */
export interface EngineSession {
  /** Does a Turn. A throw is a failed Turn. Past the stop deadline after `signal` aborted the Host ends the Run by itself. */
  run(turn: EngineTurn, sink: EngineSink, signal: AbortSignal): Promise<EngineOutcome>;
  /** Settings were changed and kept; they apply to the running Turn from now on. `meta` came with the change, unread. */
  configure(config: Config, meta?: Meta): Promise<void>;
  /** Takes words while a Turn runs; absent where the Engine cannot. */
  steer?(turnId: string, input: TurnInput): Promise<boolean>;
  /** Takes what an editor says about this Session beyond the contract; absent where the Engine speaks nothing beyond it. */
  readonly extensions?: ExtensionInlet;
  /** Frees everything: children, calls, files. */
  close(): Promise<void>;
}

/** Takes what an editor says beyond the contract. `client` is what that editor offers. */
export interface ExtensionInlet {
  /** Answers a request, with an error of its own where it does not know it. Rejects at once when the signal aborts. */
  call(message: ExtensionMessage, client: ClientServices, signal: AbortSignal): Promise<ExtensionAnswer>;
  /** Takes a notification. */
  notify(message: ExtensionMessage, client: ClientServices): Promise<void>;
}

/** Brings what an Engine says beyond the contract to the editor that it concerns. */
export interface ExtensionOutlet {
  /** Asks the editor. Always settles: with an error where no editor is there, or where it goes away. */
  call(message: ExtensionMessage, signal: AbortSignal): Promise<ExtensionAnswer>;
  /** Tells the editor. Dropped where none is there or it does not keep up. Notifications keep their order. */
  notify(message: ExtensionMessage): void;
}

/** What an Engine speaks beyond Sessions and Turns. */
export interface EngineExtensions extends ExtensionInlet {
  /** Says where its own requests and notifications go. Called once, before anything else. */
  connect(outlet: ExtensionOutlet): void;
}

/** What users call an agent. */
export interface Engine {
  /** Static: read without starting anything. */
  readonly profile: EngineProfile;
  /** Its own Sessions, which it may have kept before it met this Host; absent where it has none. */
  readonly archive?: EngineArchive;
  /** What goes beyond Sessions and Turns and is about no Session; absent where it speaks nothing beyond them. */
  readonly extensions?: EngineExtensions;
  /** Opens or continues a Session. Called before its first Turn in this process. */
  open(context: EngineContext): Promise<EngineSession>;
  /** Frees what Sessions share. */
  close(): Promise<void>;
}
