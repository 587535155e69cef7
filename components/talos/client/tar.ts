/** How long a header is, and what everything is padded to. */
const block = 512;
/** Where in the header the length of the file stands, in octal digits. */
const [sizeAt, sizeEnd] = [124, 136];

/** The text of the one file in a tar archive, which is how Talos sends a file. */
export function onlyFile(archive: Buffer): string {
  const size = Number.parseInt(archive.subarray(sizeAt, sizeEnd).toString("latin1"), 8);
  if (!(size >= 0) || block + size > archive.length) throw new Error("what the node sent is no archive of a file");
  return archive.subarray(block, block + size).toString("utf8");
}
