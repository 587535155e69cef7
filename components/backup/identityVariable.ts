import { readFile } from "node:fs/promises";
import { SluiceError } from "../errors/sluiceError.ts";
import { identitiesIn } from "./ageLibrary.ts";

/** The age identities of the caller's environment, never from an argument, which every user of the machine can read; undefined if it names none. */
export async function readIdentitiesFrom(env: NodeJS.ProcessEnv): Promise<readonly string[] | undefined> {
  const { SLUICE_AGE_IDENTITY: text, SLUICE_AGE_IDENTITY_FILE: file } = env;
  if (!text && !file) return undefined;
  const found = identitiesIn(text || (await textOf(file ?? "")));
  if (found === "missing") throw unusable("it has no line that begins with AGE-SECRET-KEY-");
  if (found === "mistyped") throw unusable("it is mistyped, or its end is missing");
  return found;
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error) => {
    throw unusable(error.message);
  });
}

function unusable(seen: string): SluiceError {
  return new SluiceError({ code: "SLU-B104", where: "SLUICE_AGE_IDENTITY_FILE or SLUICE_AGE_IDENTITY", seen });
}
