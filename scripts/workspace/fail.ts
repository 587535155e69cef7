/** An error that is told to a person as it is: no stack, no code. */
export class Failure extends Error {
  override name = "Failure";
}

/** Runs a command of ours and turns what goes wrong into one message and an exit code. */
export async function main(run: () => Promise<number | undefined>): Promise<void> {
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    process.exitCode = 1;
    if (!isToldAsItIs(error)) throw error;
    console.error(`sluice: ${error.message}`);
  }
}

function isToldAsItIs(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // A misspelt option is the person's mistake, not ours.
  const misspelt = "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  return misspelt || error instanceof Failure || error.name === "ConfigError";
}
