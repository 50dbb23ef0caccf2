/** What this process may read. */
export interface ReadGrants {
  /** Whether reading `path`, as written, is granted now. Never asks anybody. */
  readable(path: string): boolean;
}

/** The permissions that Deno was started with. Only queried: a request would put a question on the editor's terminal. */
export const denoGrants: ReadGrants = {
  readable: (path: string): boolean => Deno.permissions.querySync({ name: "read", path }).state === "granted",
};
