import type { Diff, ToolInput } from "../../model/tool.ts";
import { type FileState, readFile, writeFile } from "./files.ts";
import { forbidReadOnly, permit, type Wish } from "./permission.ts";
import { type Place, placeOf } from "./place.ts";
import type { EngineOutcome } from "../contract.ts";
import type { Job } from "./job.ts";
import type { JsonObject } from "../../model/json.ts";
import { ToolFailure } from "./failure.ts";

/** What a change makes of a file. */
interface Change {
  readonly newText: string;
  /** Where it begins, where that says more than the path. */
  readonly line?: number;
}

/** `/read PATH`. */
export function readStep(job: Job, written: string): Promise<EngineOutcome | undefined> {
  const place = placeOf(job.context, written);
  const input = inputOf("read", "read_file", `Read ${place.shown}`, place, { path: place.path });
  return job.tool(input, async () => {
    const state = await readFile(job, place);
    const text = state.kind === "binary" ? `${state.bytes} bytes that are not text` : textOf(state, place);
    return { status: "completed", content: text === "" ? [] : [{ kind: "text", text }], diffs: [] };
  });
}

/** `/write PATH TEXT`. */
export function writeStep(job: Job, written: string, text: string): Promise<EngineOutcome | undefined> {
  const place = placeOf(job.context, written);
  const input = inputOf("edit", "write_file", `Write ${place.shown}`, place, {
    path: place.path,
    content: text,
  });
  return changeStep(job, place, input, () => ({ newText: text }));
}

/** `/edit PATH OLD => NEW`. */
export function editStep(
  job: Job,
  step: { readonly path: string; readonly before: string; readonly after: string },
): Promise<EngineOutcome | undefined> {
  const { before, after } = step;
  const place = placeOf(job.context, step.path);
  const input = inputOf("edit", "edit_file", `Edit ${place.shown}`, place, {
    path: place.path,
    oldText: before,
    newText: after,
  });
  return changeStep(job, place, input, (state) => {
    const text = textOf(state, place);
    const at = text.indexOf(before);
    if (at < 0) throw new ToolFailure(`${place.shown} does not hold the text to replace`);
    if (text.indexOf(before, at + 1) >= 0) {
      throw new ToolFailure(`${place.shown} holds the text to replace more than once`);
    }
    return {
      newText: text.slice(0, at) + after + text.slice(at + before.length),
      line: text.slice(0, at).split("\n").length,
    };
  });
}

function changeStep(
  job: Job,
  place: Place,
  input: ToolInput,
  change: (state: FileState) => Change,
): Promise<EngineOutcome | undefined> {
  return job.tool(input, async (toolCallId) => {
    const wish: Wish = {
      toolCallId,
      scope: { what: "write", value: place.path, until: "session" },
      deed: `write ${place.shown}`,
    };
    forbidReadOnly(job, wish);
    let state = await readFile(job, place);
    let { newText, line } = change(state);
    if (line !== undefined) await job.sink.toolInput(toolCallId, at(input, place, line));
    if (await permit(job, wish) === "asked") {
      // A person takes time: what the file holds now is what is changed, and what the diff shows.
      state = await readFile(job, place);
      const planned = line;
      ({ newText, line } = change(state));
      if (line !== undefined && line !== planned) {
        await job.sink.toolInput(toolCallId, at(input, place, line));
      }
    }
    await writeFile(job, place, newText);
    return {
      status: "completed",
      content: [{ kind: "text", text: `Wrote ${newText.length} characters to ${place.shown}` }],
      diffs: diffsOf(state, place, newText),
    };
  });
}

function inputOf(
  kind: "read" | "edit",
  name: string,
  title: string,
  { path }: Place,
  raw: JsonObject,
): ToolInput {
  return { complete: true, sensitive: false, title, kind, locations: [{ path }], name, raw };
}

function at(input: ToolInput, { path }: Place, line: number): ToolInput {
  return { ...input, locations: [{ path, line }] };
}

/** None where the old text is not known: a diff is never invented. */
function diffsOf(state: FileState, { path }: Place, newText: string): Diff[] {
  if (state.kind === "text") return [{ path, oldText: state.text, newText }];
  return state.kind === "missing" ? [{ path, oldText: null, newText }] : [];
}

function textOf(state: FileState, { shown }: Place): string {
  switch (state.kind) {
    case "text":
      return state.text;
    case "missing":
      throw new ToolFailure(`Cannot read ${shown}: it does not exist`);
    case "binary":
      throw new ToolFailure(`${shown} is not text`);
    case "unknown":
      throw new ToolFailure(`Cannot read ${shown}: ${state.reason}`);
  }
}
