// The age identity that decrypts a file: from a file that was named, or from the environment. Never from an argument, which every user of the machine can read.
import { readFile } from "node:fs/promises";
import { identitiesIn } from "../../components/backup/ageLibrary.ts";
import { Failure } from "../base/fail.ts";
import { namedFile } from "../base/files.ts";

/** The text of the identity's file; undefined if none is named. */
export async function identityText(
  named: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const { SLUICE_AGE_IDENTITY: text, SLUICE_AGE_IDENTITY_FILE: file } = env;
  if (named === undefined && text) return text;
  const path = named ?? (file || undefined);
  if (path === undefined) return undefined;
  return await readFile(namedFile(path), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`cannot read ${path}: ${error.code}`);
  });
}

/** The identities in the same file. */
export async function readIdentities(named: string | undefined): Promise<readonly string[] | undefined> {
  const text = await identityText(named);
  return text === undefined ? undefined : needIdentities(text);
}

/** The identities in a text, which no message quotes. */
export function needIdentities(text: string): readonly string[] {
  const found = identitiesIn(text);
  if (found === "missing") throw new Failure("the age identity has no line that begins with AGE-SECRET-KEY-.");
  if (found === "mistyped") throw new Failure("the age identity is mistyped, or its end is missing.");
  return found;
}
