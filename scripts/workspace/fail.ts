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
    if (error instanceof Failure || (error instanceof Error && error.name === "ConfigError")) {
      console.error(`sluice: ${error.message}`);
    } else {
      throw error;
    }
  }
}
