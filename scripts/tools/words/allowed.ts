// Where a word to avoid is correct, each with its reason. A test fails for an exception that is no longer needed.

export interface Allowed {
  /** A file, or a folder with a trailing slash. */
  readonly file: string;
  /** The text around the word. */
  readonly text: string;
  readonly reason: string;
}

export const allowed: readonly Allowed[] = [
  { file: "docs/gates.md", text: "evidence.strangers", reason: "the key of an output" },
  {
    file: "tests/variants/virtualAddress.test.ts",
    text: "CN=stranger",
    reason: "the subject of a recorded certificate",
  },
  { file: "scripts/summary/timing/", text: "begun", reason: "a fact of the lab's timeline" },
  { file: "lab/kube/worker.go", text: "begun", reason: "a fact of the lab's timeline" },
  { file: "tests/scripts/summary/timing/", text: "pod begun", reason: "a fact of the lab's timeline" },
  { file: "tests/lab/lab.test.ts", text: "begun", reason: "a fact of the lab's timeline" },
];
