import type { Dialect } from "./model/service.ts";
import type { Difference } from "./comparison.ts";
import type { Launch } from "../support/launch.ts";
import type { Pins } from "../support/packages.ts";

/** Where an agent works in a test. */
export interface Place {
  /** Holds nothing but this run: `home`, `work`, `tmp` and whatever the agent makes of them. */
  readonly folder: string;
  /** Its packages. */
  readonly installed: string;
  /** A Node that is new enough for all agents. */
  readonly node: string;
  /** The model's service. */
  readonly url: string;
}

/** A scene of the conversation with an agent, asked for by `<name>`. */
export interface Scene {
  readonly name: string;
  /** In a dialog the first option of this kind is chosen. */
  readonly choose?: "allow_once" | "reject_once";
  /** Text of the agent at which the prompt is cancelled. */
  readonly cancelAt?: string;
}

/** An agent that others make, as its users get it from npm. */
export interface RealAgent {
  readonly name: string;
  readonly pins: Pins;
  /** The model that it works with, where it needs one; `folder` is where the agent works. */
  readonly model?: (folder: string) => Dialect;
  /** Writes what it needs to find below its home. */
  readonly prepare?: (place: Place) => Promise<void>;
  readonly launch: (place: Place) => Launch;
  /** The mode in which it asks before it works, where that is not the one it begins with. */
  readonly mode?: string;
  /** They are played in this order; the first one again after everything was loaded. */
  readonly scenes: readonly Scene[];
  /** The scene in which it works until somebody stops it, and a word that it says in it. */
  readonly working: Required<Pick<Scene, "name" | "cancelAt">>;
  /** Everything that is otherwise behind Gangway. */
  readonly differences: readonly Difference[];
}
