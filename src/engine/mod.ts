/**
 * What an Engine is: the contract that a local Host drives.
 *
 * @module
 */
export * from "./contract.ts";
