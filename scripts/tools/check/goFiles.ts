import { glob } from "node:fs/promises";
import { root } from "../../base/paths.ts";

/** Our own Go sources. */
export function goFiles(): Promise<string[]> {
  return Array.fromAsync(glob("{toolchain,lab}/**/*.go", { cwd: root }));
}
