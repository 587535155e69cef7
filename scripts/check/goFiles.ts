import { glob } from "node:fs/promises";
import { root } from "../workspace/paths.ts";

/** The Go sources of our own. */
export function goFiles(): Promise<string[]> {
  return Array.fromAsync(glob("{toolchain,lab}/**/*.go", { cwd: root }));
}
