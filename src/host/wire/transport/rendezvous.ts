import { createHash } from "node:crypto";
import { ownerIn, prepareFolder } from "./own_place.ts";

/** Bytes of a socket's path that every system takes. */
const SOCKET_PATH_BYTES = 103;

/** Where a state folder's Host and those who look for it meet: a folder of its own inside, for the user alone. */
export class Rendezvous {
  /** Real path of the state folder. */
  readonly state: string;
  /** The folder of the Host's own files. */
  readonly folder: string;

  /** `state` is the state folder, which exists. Touches nothing else. */
  constructor(state: string) {
    this.state = Deno.realPathSync(state);
    this.folder = `${this.state}/host`;
  }

  /** Held by the Host for as long as it lives. */
  get lock(): string {
    return `${this.folder}/lock`;
  }

  /** Says how to reach the Host. */
  get endpoint(): string {
    return `${this.folder}/endpoint.json`;
  }

  /** What both sides prove to know where there are no sockets with owners. */
  get secret(): string {
    return `${this.folder}/secret`;
  }

  /** The Host's log. */
  get log(): string {
    return `${this.folder}/log`;
  }

  /** The agents that Sessions of this folder may need again. */
  get agents(): string {
    return `${this.folder}/agents.json`;
  }

  /** Makes the folder where it is missing, or refuses it. */
  prepare(): void {
    prepareFolder(this.folder);
  }

  /**
   * Where the Host's socket belongs: always the same for a state folder, short enough for every system, and in a folder for us alone,
   * which is made. `runtime` is the user's folder for such things, where one is known.
   */
  socket(runtime: string | undefined): string {
    const inside = `${this.folder}/socket`;
    if (fits(inside)) return inside;
    const name = createHash("sha256").update(this.state).digest("hex").slice(0, 24);
    const base = runtime !== undefined && fits(`${runtime}/gangway/${name}.sock`)
      ? `${runtime}/gangway`
      : `/tmp/gangway-${ownerIn(this.folder) ?? "user"}`;
    prepareFolder(base);
    return `${base}/${name}.sock`;
  }
}

function fits(path: string): boolean {
  return new TextEncoder().encode(path).length <= SOCKET_PATH_BYTES;
}
