/**
 * The command line.
 *
 * @module
 */
export {};
