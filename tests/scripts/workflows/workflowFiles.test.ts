// What actionlint does not check: a workflow's permissions, and what it runs.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import semver from "semver";
import { parse } from "yaml";
import { maskSecrets } from "../../../scripts/workflows/maskSecrets.ts";
import { commandNames } from "../../support/commands.ts";

interface Step {
  readonly name?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly "timeout-minutes"?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly env?: object;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: object;
  readonly permissions: Readonly<Record<string, string>>;
  readonly concurrency?: { readonly group: string };
  readonly env?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const root = join(import.meta.dirname, "../../..");
const files = globSync(".github/{workflows,actions/*}/*.{yaml,yml}", { cwd: root }).sort();
const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
const workflows = texts
  .filter(({ file }) => file.startsWith(".github/workflows/"))
  .map(({ file, text }) => ({ file, text, workflow: parse(text) as Workflow })); // actionlint checks the shape
const jobs = workflows.flatMap(({ file, workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ where: `${file} ${name}`, workflow, job })),
);
const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;

test("there are four workflows", () => {
  expect(workflows.map(({ file }) => file)).toEqual([
    ".github/workflows/check.yaml",
    ".github/workflows/drift.yaml",
    ".github/workflows/nightly.yaml",
    ".github/workflows/preview.yaml",
  ]);
});

describe("actions", () => {
  const uses = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/uses: *(.*)$/gm)].map(([, action = ""]) => ({ file, action })),
  );

  test.each(uses)("$file pins $action to a commit and says its version, or it is our own", ({ action }) => {
    expect(action).toMatch(/^(\.\/\.github\/actions\/\w+|[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/);
  });

  test("of one repository are of one version everywhere", () => {
    const outside = uses.map(({ action }) => action).filter((action) => !action.startsWith("./"));
    const versions = Map.groupBy(outside, (action) => action.split(/[@/]/, 2).join("/"));
    for (const pins of versions.values()) {
      expect(new Set(pins.map((pin) => pin.replace(/^[^@]*@/, ""))).size).toBe(1);
    }
  });
});

describe("a workflow", () => {
  test.each(workflows)("$file never gives a pull request's code the rights of the branch it goes to", ({ text }) => {
    expect(text).not.toMatch(/pull_request_target|workflow_run/);
  });

  test.each(workflows)("$file queues or cancels concurrent runs", ({ workflow }) => {
    expect(workflow.concurrency?.group).toBeTruthy();
  });

  test.each(workflows)("$file passes secrets to single steps only", ({ workflow }) => {
    const shared = [workflow.env, ...Object.values(workflow.jobs).map((job) => job.env)];
    expect(JSON.stringify(shared)).not.toContain("secrets.");
  });

  test.each(jobs)("$where has a timeout", ({ job }) => {
    expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });

  test("may write only what it exists for", () => {
    const granted = jobs.map(({ where, workflow, job }) => {
      const permissions = Object.entries(job.permissions ?? workflow.permissions);
      return [where, permissions.filter(([, right]) => right !== "read").map(([what]) => what)];
    });
    expect(Object.fromEntries(granted.filter(([, what]) => what?.length !== 0))).toEqual({
      ".github/workflows/drift.yaml drift": ["issues"],
      ".github/workflows/preview.yaml comment": ["pull-requests"],
    });
  });

  test("that may write to a pull request runs the code of the target branch", () => {
    const steps = workflows.find(({ file }) => file.endsWith("preview.yaml"))?.workflow.jobs.comment?.steps ?? [];
    expect(steps[0]?.with?.ref).toMatch(/^\$\{\{ github\.event\.pull_request\.base\.sha \}\}$/);
  });

  test.each(jobs)("$where leaves no token in the checkout", ({ job }) => {
    const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with?.["persist-credentials"])).toEqual(checkouts.map(() => false));
  });

  test.each(jobs)("$where puts no expression into a shell's text", ({ job }) => {
    for (const { run } of job.steps) expect(run ?? "").not.toContain("${{");
  });

  test.each(jobs)("$where runs existing commands", ({ job }) => {
    const text = job.steps.map(({ run = "" }) => run).join("\n");
    for (const [, name = ""] of text.matchAll(/scripts\/run\.mjs (\w+)/g)) expect(commandNames).toContain(name);
    for (const [, name = ""] of text.matchAll(/npm run (?:--silent )?([\w-]+)/g))
      expect(scripts).toHaveProperty([name]);
  });
});

test("the report of a preview has every secret of the preview, to mask it", () => {
  const steps = workflows.find(({ file }) => file.endsWith("preview.yaml"))?.workflow.jobs.preview?.steps ?? [];
  const secrets = (name: string) => {
    const env = Object.entries(steps.find((step) => step.name === name)?.env ?? {});
    return env.filter(([, value]) => value.includes("secrets.")).map(([variable]) => variable);
  };
  expect(secrets("Preview").length).toBeGreaterThan(3);
  expect(secrets("Report").sort()).toEqual(secrets("Preview").sort());
  for (const variable of secrets("Report")) {
    expect(maskSecrets("it says a-secret-value", { [variable]: "a-secret-value" })).toBe("it says [masked]");
  }
});

test("the check allows its labs, before it starts, what a GitHub runner forbids and the lab needs", () => {
  const steps = workflows.find(({ file }) => file.endsWith("check.yaml"))?.workflow.jobs.check?.steps ?? [];
  const asked = /AppArmor .*: (sudo sysctl -w \S+)"/.exec(readFileSync(join(root, "lab/daemon/namespaces.go"), "utf8"));
  const allows = steps.findIndex(({ run = "" }) => run.includes(asked?.[1] ?? "nothing"));
  expect(allows).toBeGreaterThan(-1);
  expect(steps[allows]?.if).toBe("runner.environment == 'github-hosted'");
  expect(steps.findIndex(({ run }) => run === ".ci/run")).toBeGreaterThan(allows);
});

test("the Go version of the workflows builds every module of the toolchain and the lab", () => {
  const versions = globSync("{toolchain/*,lab}/go.mod", { cwd: root }).map((file) => ({
    file,
    go: /^go (\S+)$/m.exec(readFileSync(join(root, file), "utf8"))?.[1] ?? "",
  }));
  const taken = versions.find(({ file }) => file.startsWith("toolchain/pulumi/"))?.go ?? "";
  expect(versions.filter(({ go }) => semver.gt(go, taken))).toEqual([]);
});
