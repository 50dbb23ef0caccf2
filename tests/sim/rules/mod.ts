import type { World } from "../world.ts";
import { admission } from "./admission.ts";
import { answers } from "./answers.ts";
import { dialogs } from "./dialogs.ts";
import { Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { kept } from "./kept.ts";
import { shown } from "./shown.ts";

/** Judges what happened in a world. */
export function judge(world: World): readonly Finding[] {
  const facts = new Facts(world);
  const wild = world.tape.of("wrong").map(({ rule, what, seq }) => ({ rule, what, seq }));
  return [...wild, ...[admission, answers, dialogs, shown, kept].flatMap((rule) => rule(facts))];
}
