/**
 * Links what it is told in a process of its own, whose flags are the permissions under test, and prints what came of it.
 * Arguments: the questions as JSON.
 *
 * @module
 */
import { type Files, ResourceError } from "../../src/session/ports.ts";
import { ScopedFiles } from "../../src/resource/mod.ts";
import type { Finding, Questions } from "./probe.ts";

async function linked(
  files: Files,
  uri: string,
  roots: readonly string[],
  directories: boolean,
): Promise<Finding> {
  const link = await files.link(uri, roots, { directories });
  if (link.kind === "reference") return { reference: true, lines: link.lines };
  const { file } = link;
  try {
    let text = "";
    let size = 0;
    for await (const part of file.bytes()) {
      size += part.length;
      if (size <= 100) text += new TextDecoder().decode(part);
    }
    return { name: file.name, mimeType: file.mimeType, size, text, lines: file.lines };
  } finally {
    file.close();
  }
}

async function found(finding: () => Promise<Finding>): Promise<Finding> {
  try {
    return await finding();
  } catch (error) {
    if (error instanceof ResourceError) return { refused: error.code, message: error.message };
    throw error;
  }
}

const questions: Questions = JSON.parse(Deno.args[0]!);
const files = new ScopedFiles({ denials: questions.denials ?? [] });
const findings: Finding[] = [];
for (const path of questions.directories ?? []) {
  findings.push(await found(async () => ({ directory: await files.directory(path) })));
}
for (const uri of questions.links ?? []) {
  findings.push(
    await found(() => linked(files, uri, questions.roots ?? [], questions.takesDirectories ?? false)),
  );
}
// deno-lint-ignore no-console
console.log(JSON.stringify(findings));
