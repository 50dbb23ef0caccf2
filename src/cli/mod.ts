/**
 * The command line: serving an editor on stdin and stdout, a demonstration, and a doctor.
 *
 * @module
 */
export { main } from "./main.ts";
