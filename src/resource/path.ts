/** The segments of a path between slashes, without empty ones and dots. `..` at the top stays at the top. */
export function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments;
}

/** Whether `path` is `folder` or lies under it, by name alone. */
export function isWithin(folder: string, path: string): boolean {
  if (path === folder) return true;
  const separator = separatorOf(folder);
  return path.startsWith(folder.endsWith(separator) ? folder : folder + separator);
}

/** The folders from `root` down to the parent of `path`, which lies under it; none for the root itself. Real paths. */
export function foldersBetween(root: string, path: string): string[] {
  if (path === root) return [];
  const separator = separatorOf(root);
  const folders = [root];
  for (
    let end = path.indexOf(separator, root.length + 1);
    end >= 0;
    end = path.indexOf(separator, end + 1)
  ) folders.push(path.slice(0, end));
  return folders;
}

function separatorOf(path: string): string {
  return path.includes("\\") && !path.startsWith("/") ? "\\" : "/";
}
