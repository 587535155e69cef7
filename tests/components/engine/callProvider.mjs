// A process as the engine has one for dynamic resources: a provider's text is loaded and called. What to call comes in as JSON; the engine's address is
// the first argument, as in the real one.
import { createRequire } from "node:module";
import { json } from "node:stream/consumers";

const requireFromString = createRequire(import.meta.url)("require-from-string");
const { text, call, args } = await json(process.stdin);
const provider = requireFromString(text).handler();
const calls = Object.keys(provider);
try {
  console.log(JSON.stringify({ calls, answer: calls.includes(call) ? await provider[call](...args) : undefined }));
} catch ({ message }) {
  console.log(JSON.stringify({ calls, error: message }));
}
process.exit();
