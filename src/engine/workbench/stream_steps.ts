import type { EngineOutcome, EngineSink } from "../contract.ts";
import type { Job } from "./job.ts";
import { breathe, pause } from "../waiting.ts";
import { END_TURN } from "./job.ts";
import { LIMITS } from "../../limits.ts";
import { Tail } from "./tail.ts";
import type { ToolInput } from "../../model/tool.ts";

/** Pieces between two breaths: often enough for a stop to be heard at once, seldom enough to cost nothing. */
const BREATH = 32;
/** Characters of one output of `/flood`. */
const FLOOD_PIECE = 8192;

/** `/emit COUNT BYTES`: one message, each piece awaited. */
export async function emitStep(job: Job, count: number, bytes: number): Promise<void> {
  const { sink, signal } = job;
  const id = job.ids.next();
  const piece = filler(bytes);
  for (let sent = 0; sent < count; sent++) {
    if (sent % BREATH === 0) {
      await breathe();
      signal.throwIfAborted();
    }
    await sink.message(id, "text", piece);
  }
  await sink.messageComplete(id);
}

/** `/rewrite TEXT`: what is streamed first is taken back under the same id. */
export async function rewriteStep({ ids, sink, signal }: Job, text: string): Promise<void> {
  const id = ids.next();
  await sink.message(id, "text", "This was said too early and is taken back.");
  // Without a pause nobody would have been shown what is taken back.
  await pause(REWRITE_MS, signal);
  await sink.messageReset(id);
  await sink.message(id, "text", text);
  await sink.messageComplete(id);
}

/** Milliseconds that the first words of `/rewrite` stand. */
const REWRITE_MS = 50;

/** `/flood BYTES`: a tool that writes lines until it has written that much. */
export function floodStep(job: Job, bytes: number): Promise<EngineOutcome | undefined> {
  return job.tool(other(`Write ${bytes} bytes`, "flood", { bytes }), async (toolCallId) => {
    const piece = `${filler(63)}\n`.repeat(FLOOD_PIECE / 64);
    const tail = new Tail(LIMITS.cardLength);
    for (let sent = 0, left = bytes; left > 0; sent++, left -= piece.length) {
      if (sent % BREATH === 0) {
        await breathe();
        job.signal.throwIfAborted();
      }
      const text = left < piece.length ? piece.slice(0, left) : piece;
      tail.push(text);
      await job.sink.toolOutput(toolCallId, "stdout", text);
    }
    return { status: "completed", content: [{ kind: "text", text: tail.text() }], diffs: [] };
  });
}

/** `/tools COUNT`: so many tools that end at once. */
export async function toolsStep(job: Job, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    if (number % BREATH === 0) {
      await breathe();
      job.signal.throwIfAborted();
    }
    await job.tool(other(`Tool ${number}`, "tool", { number }), () =>
      Promise.resolve({
        status: "completed",
        content: [{ kind: "text", text: `Tool ${number} is done` }],
        diffs: [],
      }));
  }
}

/** `/background MS TEXT`: the words come in a Run of their own, which outlives this one. */
export async function backgroundStep(
  job: Job,
  ms: number,
  text: string,
  closed: AbortSignal,
): Promise<void> {
  const work = async (sink: EngineSink, stopped: AbortSignal): Promise<EngineOutcome> => {
    await pause(ms, AbortSignal.any([stopped, closed]));
    const id = job.ids.next();
    await sink.message(id, "text", text);
    await sink.messageComplete(id);
    return END_TURN;
  };
  await job.sink.background(work);
  await job.say("A background Run goes on beside this one.");
}

function other(title: string, name: string, raw: { readonly [key: string]: number }): ToolInput {
  return { complete: true, sensitive: false, title, kind: "other", locations: [], name, raw };
}

/** So many bytes of text without blanks. */
function filler(bytes: number): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz";
  return alphabet.repeat(Math.ceil(bytes / alphabet.length)).slice(0, bytes);
}
