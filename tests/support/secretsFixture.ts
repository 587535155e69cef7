// A complete secrets.yaml, valid for a hundred years.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isBundle, readBundle, type SecretsBundle } from "../../components/talos/secrets/secretsBundle.ts";
import { root } from "../../scripts/base/paths.ts";

export const secretsPath = join(root, "tests", "fixtures", "secrets", "secrets.yaml");
export const secretsText = readFileSync(secretsPath, "utf8");

const read = readBundle(secretsText);
if (!isBundle(read)) throw new Error("the fixture is not complete");
export const secretsBundle: SecretsBundle = read;
