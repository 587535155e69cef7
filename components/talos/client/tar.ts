/** Length of a header, and the size that everything is padded to. */
const block = 512;
/** Where the header has the length of the file, in octal digits. */
const [sizeAt, sizeEnd] = [124, 136];

/** The content of the only file in a tar archive, which is how Talos sends a file. */
export function onlyFile(archive: Buffer): string {
  const size = Number.parseInt(archive.subarray(sizeAt, sizeEnd).toString("latin1"), 8);
  if (!(size >= 0) || block + size > archive.length) throw new Error("the node did not send a valid tar archive");
  return archive.subarray(block, block + size).toString("utf8");
}
