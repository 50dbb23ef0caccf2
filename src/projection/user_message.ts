import { fits, jsonText, metaMember, oneLine, pushText, UPDATE_BYTES } from "./encode.ts";
import type { PromptPart, TurnInput } from "../model/prompt.ts";
import type { EncodedUpdate } from "./step.ts";
import { LIMITS } from "../limits.ts";

/** What a user said, as a replay shows it: bytes that the Host holds appear as links or by name, size and type. */
export function userUpdates(messageId: string, input: TurnInput, out: EncodedUpdate[]): void {
  const head = `{"sessionUpdate":"user_message_chunk","messageId":${JSON.stringify(messageId)},"content":`;
  for (const part of input.parts) {
    if (part.kind === "text") {
      const meta = metaMember(part.meta);
      pushText(out, `${head}{"type":"text","text":`, part.text, "}}", `${meta}}}`);
      continue;
    }
    const link = linkOf(part);
    const update = link === undefined ? undefined : `${head}${link}}`;
    if (update !== undefined && fits(update, UPDATE_BYTES)) out.push(update);
    else pushText(out, `${head}{"type":"text","text":`, `[${described(part)}]`, "}}");
  }
}

type FilePart = Exclude<PromptPart, { kind: "text" }>;

function linkOf(part: FilePart): string | undefined {
  if (part.uri === undefined) return undefined;
  const members = [
    `"type":"resource_link"`,
    `"uri":${jsonText(part.uri)}`,
    `"name":${jsonText(nameOf(part))}`,
  ];
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) members.push(`"${name}":${jsonText(oneLine(value, LIMITS.commandLength))}`);
  };
  add("mimeType", part.mimeType);
  if (part.kind === "link") {
    add("title", part.title);
    add("description", part.description);
  }
  if (part.artifact !== undefined) members.push(`"size":${part.artifact.size}`);
  return `{${members.join(",")}${metaMember(part.meta)}}`;
}

function nameOf(part: FilePart): string {
  const name = part.kind === "link" ? part.name : part.artifact.name;
  return oneLine(name === "" ? part.kind : name, LIMITS.titleLength);
}

function described(part: FilePart): string {
  const type = part.mimeType === undefined ? "" : `, ${oneLine(part.mimeType, 128)}`;
  const size = part.artifact === undefined ? "" : `, ${part.artifact.size} bytes`;
  return `${part.kind}: ${nameOf(part)}${type}${size}`;
}
