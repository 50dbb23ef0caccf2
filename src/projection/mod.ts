/**
 * Frames and rows to `session/update`: pure, usable alone.
 *
 * @module
 */
export {};
