import { duration } from "./duration.ts";

/** The longest that a command is silent. */
export const quietIntervalMs = 5_000;

const toStandardError = (text: string): void => {
  process.stderr.write(text);
};

/** Does something that may take long, and prints every five seconds that it still does. */
export async function reporting<T>(what: string, work: () => Promise<T>, print = toStandardError): Promise<T> {
  const began = Date.now();
  const timer = setInterval(
    () => print(`sluice: ${what}, ${duration((Date.now() - began) / 1000)}\n`),
    quietIntervalMs,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
