// `npm test`: the whole check, the named parts, or single tests of one part.

import { duration } from "../base/duration.ts";
import { main } from "../base/fail.ts";
import { readTestCall } from "./check/call.ts";
import { sum } from "./check/counts.ts";
import { parts } from "./check/parts.ts";
import { runStep, type StepResult, stepsOf, takesOptions } from "./check/runParts.ts";

const width = Math.max(...parts.map(({ name }) => name.length));
const list = parts.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join("\n");
const ofJest = parts.filter((part) => takesOptions(part) && part.name !== "go").map(({ name }) => name);

const usage = `npm test -- [part ...]
npm test -- <part> <options of the part's test runner>

Runs the whole check, or the parts named, and ends with the counts: 'N passed, N failed'.
${list}

What follows a single part is passed on to its test runner, and only what it selects runs:

  npm test -- unit tests/components/gates/etcd.test.ts    one file
  npm test -- lab tests/lab/reboot.test.ts -t "reboots"   the tests of a file whose titles match
  npm test -- go ./hetzner/... -run TestServer            Go tests by package and name, without vet and staticcheck

Jest runs ${ofJest.join(", ")}; 'go test' runs go, in lab/. The other parts take no options.`;

await main(async () => {
  const args = process.argv.slice(2);
  if (args[0] === "--help" || args[0] === "-h") {
    console.log(usage);
    return 0;
  }
  const { wanted, options } = readTestCall(args);
  const results: StepResult[] = [];
  for (const step of stepsOf(wanted)) results.push(await runStep(step, options));

  console.log("");
  const column = Math.max(...results.map(({ name }) => name.length));
  for (const { name, counts, seconds } of results) {
    console.log(`${counts.failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(column)} ${duration(seconds).padStart(7)}`);
  }
  const { passed, failed } = sum(results.map(({ counts }) => counts));
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
