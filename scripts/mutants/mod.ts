import { AGENT_MUTANTS } from "./agent.ts";
import { BEYOND_MUTANTS } from "./beyond.ts";
import { ARCHIVE_MUTANTS } from "./archive.ts";
import { CARD_MUTANTS } from "./cards.ts";
import { DAEMON_MUTANTS } from "./daemon.ts";
import { FILE_MUTANTS } from "./files.ts";
import { FRONT_MUTANTS } from "./front.ts";
import { HOST_MUTANTS } from "./host.ts";
import { INTERACTION_MUTANTS } from "./interaction.ts";
import type { Mutant } from "./mutant.ts";
import { PROJECTION_MUTANTS } from "./projection.ts";
import { SESSION_MUTANTS } from "./session.ts";
import { WIRE_MUTANTS } from "./wire.ts";

export type { Mutant } from "./mutant.ts";

/** Every planted fault. */
export const MUTANTS: readonly Mutant[] = [
  ...SESSION_MUTANTS,
  ...PROJECTION_MUTANTS,
  ...CARD_MUTANTS,
  ...INTERACTION_MUTANTS,
  ...FILE_MUTANTS,
  ...FRONT_MUTANTS,
  ...HOST_MUTANTS,
  ...DAEMON_MUTANTS,
  ...BEYOND_MUTANTS,
  ...AGENT_MUTANTS,
  ...WIRE_MUTANTS,
  ...ARCHIVE_MUTANTS,
];
