import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "@jest/globals";

/** The file with everything that it loads before its own code runs. Types load nothing. */
function loaded(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export)(?! type)[^;"]*"(\.[^"]+\.ts)";$/gm);
  for (const [, path = ""] of imports) loaded(normalize(join(dirname(file), path)), found);
  return found;
}

test("the program loads every gate, and neither a client of nodes and clusters nor the SDK of another platform", () => {
  const files = [...loaded("index.ts")];
  expect(files).toContain("components/gates/ciliumReady.ts");
  expect(files).toContain("stacks/platforms/proxmox.ts");
  const clients = /^components\/(kubernetes\/(client|watch|observe)|talos\/client\/(talosClient|connection))\.ts$/;
  const others = /^stacks\/platforms\/\w+Resources\.ts$|\.provider\.ts$/;
  expect(files.filter((file) => clients.test(file) || others.test(file))).toEqual([]);
});
