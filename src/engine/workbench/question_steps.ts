import type { FormField } from "../../model/question.ts";
import { END_TURN, type Job } from "./job.ts";
import type { EngineOutcome } from "../contract.ts";

/** `/ask QUESTION | OPTION | OPTION`. */
export async function askStep(
  job: Job,
  question: string,
  options: readonly string[],
): Promise<EngineOutcome | undefined> {
  const answer = await job.ask({
    kind: "question",
    message: question,
    options: options.map((name, index) => ({ optionId: String(index + 1), name })),
  });
  if (answer.kind === "cancel") return END_TURN;
  const chosen = answer.kind === "option" ? options[Number(answer.optionId) - 1] : undefined;
  await job.say(chosen === undefined ? "You gave no answer." : `You chose: ${chosen}`);
  return undefined;
}

/** `/form NAME:TYPE …`. */
export async function formStep(job: Job, fields: readonly FormField[]): Promise<void> {
  const answer = await job.ask({
    kind: "form",
    message: "Please fill in these values.",
    options: [],
    fields,
  });
  if (answer.kind === "values") {
    const lines = Object.entries(answer.values).map(([name, value]) => `- ${name}: ${JSON.stringify(value)}`);
    await job.say(["You filled in:", ...lines].join("\n"));
  } else {
    await job.say(answer.kind === "cancel" ? "You cancelled the form." : "You declined the form.");
  }
}
