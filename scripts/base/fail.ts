/** An error whose message is printed as it is, without a stack trace. */
export class Failure extends Error {
  override name = "Failure";
}

/** Waits for all checks, and refuses with what every one of them refuses. */
export async function needAll(checks: readonly Promise<unknown>[]): Promise<void> {
  const refused = (await Promise.allSettled(checks)).filter((one) => one.status === "rejected");
  const other = refused.find(({ reason }) => !(reason instanceof Failure));
  if (other !== undefined) throw other.reason;
  if (refused.length > 0) throw new Failure(refused.map(({ reason }) => reason.message).join("\n"));
}

/** Runs a command, and turns errors into one message and an exit code. */
export async function main(run: () => Promise<number | undefined>): Promise<void> {
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    process.exitCode = 1;
    if (!isForUsers(error)) throw error;
    console.error(`sluice: ${error.message}`);
  }
}

function isForUsers(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // A misspelt option is not a bug.
  const misspelt = "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  return misspelt || error instanceof Failure || "__pulumiRunError" in error;
}
