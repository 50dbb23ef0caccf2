/**
 * Linked files: the URI, the read scope that is the one door to the disk, and the upload as an Artifact.
 *
 * @module
 */
export { ScopedFiles, type ScopedFilesOptions } from "./files.ts";
export type { ReadGrants } from "./grants.ts";
export { upload, type UploadSource } from "./upload.ts";
