import { checkOwn, ownerIn } from "./own_place.ts";
import type { Rendezvous } from "./rendezvous.ts";

/** How a Host is reached. */
export type Endpoint =
  | { readonly transport: "socket"; readonly path: string }
  | { readonly transport: "web"; readonly port: number };

/** Tells those who look for the Host where it is. Whoever holds the Host's lock may. */
export function publishEndpoint(place: Rendezvous, endpoint: Endpoint): void {
  writePrivate(place.endpoint, JSON.stringify(endpoint));
}

/** Takes the notice down. */
export function withdrawEndpoint(place: Rendezvous): void {
  try {
    Deno.removeSync(place.endpoint);
  } catch {
    // A notice that stays says where nobody answers, which every reader expects.
  }
}

/** Reads where the Host is; undefined where none said so. Refuses a notice that others could have written. */
export function readEndpoint(place: Rendezvous): Endpoint | undefined {
  try {
    checkOwn(place.endpoint, "file", ownerIn(place.folder));
    return endpointOf(JSON.parse(Deno.readTextFileSync(place.endpoint)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes a file that only we may read, at one stroke. */
export function writePrivate(path: string, text: string): void {
  const fresh = `${path}.${Deno.pid}`;
  // One that is there would keep its mode.
  try {
    Deno.removeSync(fresh);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  Deno.writeTextFileSync(fresh, text, { mode: 0o600, createNew: true });
  Deno.renameSync(fresh, path);
}

function endpointOf(value: unknown): Endpoint | undefined {
  if (typeof value !== "object" || value === null || !("transport" in value)) return undefined;
  if (value.transport === "socket" && "path" in value && typeof value.path === "string") {
    return { transport: "socket", path: value.path };
  }
  if (value.transport === "web" && "port" in value && typeof value.port === "number") {
    return { transport: "web", port: value.port };
  }
  return undefined;
}
