/**
 * The Runtime Host: its contract, its errors and the embedded Host.
 *
 * @module
 */
export * from "./contract.ts";
export * from "./errors.ts";
