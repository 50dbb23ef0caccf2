/**
 * What an Engine is: the contract that a local Host drives.
 *
 * @module
 */
export * from "./contract.ts";
export type * from "./archive.ts";
export type * from "./remembered.ts";
