// Reads the output of `go test -json`.
import type { Counts } from "./counts.ts";

interface TestEvent {
  readonly Action: string;
  readonly Package?: string;
  readonly ImportPath?: string;
  readonly Test?: string;
  readonly Output?: string;
  readonly Elapsed?: number;
}

export interface GoTestReport {
  /** Accepts the output as it comes, cut at any place. */
  hear(text: string): void;
  counts(): Counts;
}

/**
 * Counts tests, prints each package as it ends, and prints the output of failed tests and of packages that do not compile. A test with subtests, like a
 * package, counts only if it fails and none of them did.
 */
export function readGoTest(print: (line: string) => void): GoTestReport {
  let rest = "";
  let passed = 0;
  let failed = 0;
  const said = new Map<string, string[]>();
  const withParts = new Set<string>();
  const failedIn = new Set<string>();

  const show = (key: string) => {
    for (const output of said.get(key) ?? []) print(output.trimEnd());
    said.delete(key);
  };
  const take = ({ Action, Package = "", ImportPath = Package, Test, Output = "", Elapsed = 0 }: TestEvent) => {
    const key = keyOf(ImportPath, Test);
    const above = Test === undefined ? [] : parents(Test).map((test) => keyOf(Package, test));
    switch (Action) {
      case "output":
      case "build-output":
        said.set(key, [...(said.get(key) ?? []), Output]);
        break;
      case "build-fail":
        show(key);
        break;
      case "pass":
      case "skip":
        if (Test === undefined) print(`ok   ${Package} ${Elapsed.toFixed(1)}s`);
        else if (Action === "pass" && !withParts.has(key)) passed++;
        for (const test of above) withParts.add(test);
        said.delete(key);
        break;
      case "fail":
        if (!failedIn.has(key)) failed++;
        for (const test of above) failedIn.add(test);
        show(key);
        if (Test === undefined) print(`FAIL ${Package} ${Elapsed.toFixed(1)}s`);
        break;
    }
  };
  return {
    hear(text) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        // Lines that go prints before it runs anything are no events.
        if (line.startsWith("{")) take(JSON.parse(line));
        else if (line !== "") print(line);
      }
    },
    counts: () => ({ passed, failed }),
  };
}

function keyOf(name: string, test = ""): string {
  return `${name} ${test}`;
}

/** The tests that contain a test, and finally the package. */
function parents(test: string): string[] {
  const steps = test.split("/");
  return steps.map((_, index) => steps.slice(0, index).join("/")).reverse();
}
