import config from "../../deno.json" with { type: "json" };

/** Gangway's own version, as the package says it. */
export const VERSION: string = config.version;
