import type { Entry } from "../tape.ts";
import { questionIn } from "./answers.ts";
import type { Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";

interface Person {
  /** What a person said to it, in the words of an `Answer`; undefined before. */
  meant: string | undefined;
}

/** Answers to questions: the Host hears what a person said, and nothing else. */
export function dialogs(facts: Facts): Finding[] {
  const found: Finding[] = [];
  /** Questions by the Host's ids, from the frames that brought them. */
  const questions = new Map<string, string>();
  const asked = new Map<number, string>();
  const people = new Map<string, Person>();
  for (const entry of facts.tape.entries) {
    for (const { interactionId, message } of interactionsIn(entry)) {
      questions.set(interactionId, message.split(" ")[0]!);
    }
    if (entry.kind === "request") {
      const question = questionIn(entry);
      if (question === undefined) continue;
      asked.set(entry.id, `${entry.by} ${question}`);
      people.set(`${entry.by} ${question}`, { meant: undefined });
    }
    if (entry.kind === "request_over" && entry.end === "answered") {
      const person = people.get(asked.get(entry.id) ?? "");
      if (person !== undefined) person.meant = entry.meant;
    }
    if (entry.kind === "op" && entry.name === "answer") {
      const { interactionId, answer } = entry.detail;
      const question = questions.get(String(interactionId));
      const meant = people.get(`${entry.by} ${question}`)?.meant;
      if (meant === undefined || !same(meant, String(answer))) {
        found.push({
          rule: "answer",
          what: `question ${question} is answered ${answer}, a person said ${meant}`,
          seq: entry.seq,
        });
      }
    }
  }
  return found;
}

function interactionsIn(
  entry: Entry,
): readonly { readonly interactionId: string; readonly message: string }[] {
  if (entry.kind === "snapshot") return entry.snapshot.interactions;
  return entry.kind === "frame" && entry.frame.type === "interaction_opened" ? [entry.frame.interaction] : [];
}

function same(a: string, b: string): boolean {
  return canonical(a) === canonical(b);
}

function canonical(text: string): string {
  const sorted = (_: string, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [two]) => one < two ? -1 : 1))
      : value;
  try {
    return JSON.stringify(JSON.parse(text), sorted);
  } catch {
    return text;
  }
}
