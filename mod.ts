/**
 * Gangway.
 *
 * @module
 */
export { LIMITS } from "./src/limits.ts";
