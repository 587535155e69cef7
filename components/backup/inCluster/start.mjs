// Runs in the pod that takes a backup: unpacks the program, and starts it. The folder is the only one that it may write to.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";

const folder = "/tmp/program";
const files = JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, "program.json.gz"))).toString());
for (const [file, text] of Object.entries(files)) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}
await import(join(folder, "components", "backup", "inCluster", "main.ts"));
