/** The canonical reference to committed bytes that belong to a Session. */
export interface ArtifactReference {
  /** Matches `[A-Za-z0-9_-]{1,64}`. */
  readonly artifactId: string;
  /** File name for people. */
  readonly name: string;
  /** As the uploader said. */
  readonly mimeType: string;
  /** In bytes. */
  readonly size: number;
  /** Lower-case hex of the bytes. */
  readonly sha256: string;
}
