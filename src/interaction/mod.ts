/**
 * Host questions to Client dialogs and back: pure.
 *
 * @module
 */
export * from "./answer.ts";
export * from "./dialog.ts";
