import type { Channel, OpenMessage } from "./message.ts";
import type { Command, PlanEntry, Usage } from "./plan.ts";
import type { Config } from "./config.ts";
import type { Interaction, InteractionEnd } from "./question.ts";
import type { Block } from "./block.ts";
import type { Compaction } from "./compaction.ts";
import type { JsonObject, Meta } from "./json.ts";
import type { SessionMetas } from "./metas.ts";
import type { LiveRun, Run, RunEnd } from "./run.ts";
import type { ToolInput, ToolResult } from "./tool.ts";

/** What a Subscription starts with: the whole present state of the Session. */
export interface Snapshot {
  /** Names the store for ever; recovery never crosses to another one. */
  readonly storeId: string;
  /** Changes with each start of the Host. */
  readonly hostEpoch: string;
  /** Runs that have not ended. */
  readonly runs: readonly LiveRun[];
  /** The present settings. */
  readonly config: Config;
  /** The present commands. */
  readonly commands: readonly Command[];
  /** The title, once there is one. */
  readonly title?: string;
  /** Context window use, once it is known. */
  readonly usage?: Usage;
  /** What came with the settings, commands and title as metadata. */
  readonly metas?: SessionMetas;
  /** Open questions. */
  readonly interactions: readonly Interaction[];
  /** Rows up to this sequence are durable and will not change. */
  readonly watermark: number;
  /** The highest sequence that any row has, open ones included. */
  readonly last: number;
  /** Messages that are not complete, with what they hold so far. */
  readonly messages: readonly OpenMessage[];
}

/** A request of an Engine to the Client that presents its Run: `fs/*` or `terminal/*` with ACP's own parameters. */
export interface ClientCall {
  /** Its id. */
  readonly callId: string;
  /** The Run whose Engine calls. */
  readonly run: Run;
  /** Which of the editor's methods. */
  readonly method: string;
  /** Its params, in ACP's own shape. */
  readonly params: JsonObject;
}

/** What all frames have. */
export interface FrameBase {
  /** Passed through unread. */
  readonly meta?: Meta;
}

/**
 * One step of what happens in a Session. Message offsets are absolute UTF-16 units: a frame seen twice changes nothing.
 */
export type Frame =
  & FrameBase
  & (
    | { readonly type: "run"; readonly live: LiveRun }
    /** Sent after the commit that covers row `through`. */
    | { readonly type: "run_ended"; readonly run: Run; readonly end: RunEnd; readonly through: number }
    | {
      readonly type: "message";
      readonly run: Run;
      readonly messageId: string;
      readonly channel: Channel;
      readonly offset: number;
      readonly text: string;
    }
    | {
      readonly type: "message_complete";
      readonly run: Run;
      readonly messageId: string;
      readonly channel: Channel;
      readonly length: number;
      readonly sha256: string;
    }
    /** The Engine took its text back and starts the message again at 0. */
    | {
      readonly type: "message_reset";
      readonly run: Run;
      readonly messageId: string;
      readonly channel: Channel;
    }
    /** What was shown stays; the voice goes on in message `by`. */
    | {
      readonly type: "message_superseded";
      readonly run: Run;
      readonly messageId: string;
      readonly by: string;
    }
    /**
     * A part of a message that is not just text, shown once by its id. Without `block` the transcript row has it; `length` and `sha256` are
     * those of the row.
     */
    | {
      readonly type: "content";
      readonly run: Run;
      readonly contentId: string;
      readonly channel: Channel;
      readonly block?: Block;
      readonly length: number;
      readonly sha256: string;
    }
    | {
      readonly type: "tool_start";
      readonly run: Run;
      readonly toolCallId: string;
      readonly parent?: string;
    }
    | {
      readonly type: "tool_input";
      readonly run: Run;
      readonly toolCallId: string;
      readonly input: ToolInput;
    }
    /**
     * `seq` counts the tool's outputs from 0. A frame that was merged from several holds `count` of them (1 where absent), so that
     * `seq + count` follows; a jump means that some were lost or dropped.
     */
    | {
      readonly type: "tool_output";
      readonly run: Run;
      readonly toolCallId: string;
      readonly seq: number;
      readonly count?: number;
      readonly stream: "stdout" | "stderr";
      readonly redacted: boolean;
      readonly text: string;
    }
    | {
      readonly type: "tool_progress";
      readonly run: Run;
      readonly toolCallId: string;
      readonly message: string;
    }
    /**
     * The authoritative end. With `result` left out (`contentOmitted`) the transcript row has it. `length` and
     * `sha256` are those of the durable row, or absent where no row was announced.
     */
    | {
      readonly type: "tool_result";
      readonly run: Run;
      readonly toolCallId: string;
      readonly status: import("./tool.ts").ToolEnd;
      readonly result?: ToolResult;
      readonly contentOmitted: boolean;
      readonly length?: number;
      readonly sha256?: string;
    }
    | { readonly type: "interaction_opened"; readonly interaction: Interaction }
    | {
      readonly type: "interaction_closed";
      readonly interactionId: string;
      readonly run: Run;
      readonly reason: InteractionEnd;
      readonly by?: string;
    }
    /** Goes to the Run's presenter alone; never replayed. */
    | { readonly type: "call"; readonly call: ClientCall }
    | { readonly type: "call_cancelled"; readonly callId: string; readonly run: Run }
    | { readonly type: "plan"; readonly run: Run; readonly entries: readonly PlanEntry[] }
    | { readonly type: "usage"; readonly usage: Usage }
    | { readonly type: "commands"; readonly commands: readonly Command[] }
    /** `meta` is that of the options, `modeMeta` that of the mode among them. */
    | { readonly type: "config"; readonly config: Config; readonly modeMeta?: Meta }
    | { readonly type: "title"; readonly title: string }
    | {
      readonly type: "notice";
      readonly run?: Run;
      readonly severity: "info" | "warning" | "error";
      readonly title: string;
      readonly text?: string;
    }
    /** With `append` only that is added to the summary; else what it names replaces what was said. */
    | { readonly type: "compaction"; readonly run?: Run; readonly append?: Block } & Compaction
    /** An Engine says that what a person was sent away to do (a `url` question) is done. */
    | { readonly type: "elicited"; readonly elicitationId: string }
    | { readonly type: "transcript"; readonly watermark: number; readonly last: number }
    /** The last frame of a Subscription. */
    | {
      readonly type: "closed";
      readonly reason: "slow_consumer" | "removed" | "draining" | "released" | "lost";
    }
  );

/** Successive frames of a Subscription: the first has number `first`, the others follow without a gap. */
export interface FrameBatch {
  /** Number of the first frame of the batch. */
  readonly first: number;
  /** In order. */
  readonly frames: readonly Frame[];
}
