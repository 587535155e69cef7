// The SDK prints an error of `diff` with its stack before it passes it to the engine, which prints it again for the resource. Users need it once.

/** Keeps the SDK from printing this one error; everything else is printed as usual. */
export function saidOnce<E extends Error>(error: E): E {
  const print = console.error;
  const filter = (...args: unknown[]) => {
    if (args.length !== 1 || args[0] !== `${error}: ${error.stack}`) return print(...args);
    if (console.error === filter) console.error = print;
  };
  console.error = filter;
  return error;
}
