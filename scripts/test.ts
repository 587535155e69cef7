// `npm test`: the whole check, or the parts named.
import { parseArgs } from "node:util";
import { type Counts, sum } from "./check/counts.ts";
import { parts } from "./check/parts.ts";
import { duration } from "./toolchain/progress.ts";
import { Failure, main } from "./workspace/fail.ts";

await main(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: "boolean" } } });
  if (values.help) {
    const list = parts.map(({ name, what }) => `  ${name.padEnd(11)} ${what}`).join("\n");
    console.log(`npm test -- [part ...]\n\nRuns the whole check, or the parts named:\n${list}`);
    return 0;
  }
  const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) throw new Failure(`the check has no part ${unknown.join(", ")}. See npm test -- --help.`);

  const wanted = parts.filter(({ name, isMeasurement }) =>
    positionals.length === 0 ? !isMeasurement : positionals.includes(name),
  );
  const results: { name: string; counts: Counts; seconds: number }[] = [];
  for (const part of wanted) {
    console.log(`\n== ${part.name}: ${part.what}`);
    const started = Date.now();
    const counts = await part.run().catch((error: unknown) => {
      // One part that cannot run does not hide what the others find.
      console.error(error instanceof Failure ? error.message : error);
      return { passed: 0, failed: 1 };
    });
    results.push({ name: part.name, counts, seconds: (Date.now() - started) / 1000 });
  }

  console.log("");
  for (const { name, counts, seconds } of results) {
    console.log(`${counts.failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(11)} ${duration(seconds).padStart(7)}`);
  }
  const { passed, failed } = sum(results.map(({ counts }) => counts));
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
