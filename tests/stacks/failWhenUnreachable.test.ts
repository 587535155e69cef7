import { join } from "node:path";
import { beforeAll, describe, expect, jest, test } from "@jest/globals";
import { proxmoxApiToken } from "../support/proxmoxMocks.ts";
import { runChild } from "../support/runChild.ts";

jest.setTimeout(120_000);

interface Outcome {
  readonly made: readonly string[];
  readonly failed: readonly string[];
}
type Reported = { readonly base: string } & Readonly<Record<"asAsked" | "left" | "preview", Outcome>>;

describe("resources in the cluster, when their provider does not reach the API", () => {
  let reports: readonly Reported[];
  let output: string;
  beforeAll(async () => {
    const env = { ...process.env, HCLOUD_TOKEN: "the-token", PROXMOX_VE_API_TOKEN: proxmoxApiToken };
    const program = join(import.meta.dirname, "../support/leftPrograms.ts");
    const { stdout, stderr, code } = await runChild(process.execPath, [program], { env });
    output = stdout + stderr;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    reports = JSON.parse(stdout);
  });

  test("S1.8 changed resources fail the up, each with its kind and name, and no secret is shown", () => {
    for (const { left } of reports) {
      expect(left.failed.map((message) => /where: +(\w+) /.exec(message)?.[1]).sort()).toEqual(left.made.toSorted());
      for (const message of left.failed)
        expect(message).toMatch(
          /^SLU-K201 A Kubernetes resource was not updated\n {2}where: +\w+ \S+\n {2}seen: +not as requested: .+\n/,
        );
    }
    expect(output).not.toMatch(/geheim|the-token|the-secret|AGE-SECRET|Z2VoZWlt/);
  });

  test("S1.8 resources of every kind that the platform creates are checked", () => {
    expect([...new Set(reports.flatMap(({ left }) => left.made))].sort()).toEqual([
      "CiliumL2AnnouncementPolicy",
      "CiliumLoadBalancerIPPool",
      "ClusterRole",
      "ClusterRoleBinding",
      "DaemonSet",
      "GitRepository",
      "Kustomization",
      "Namespace",
      "Release",
      "Role",
      "RoleBinding",
      "Secret",
      "ServiceAccount",
    ]);
  });

  test("S1.8 U2 unchanged resources do not fail, and neither does a preview, which needs no cluster", () => {
    for (const { asAsked, preview } of reports) expect([asAsked.failed, preview.failed]).toEqual([[], []]);
  });
});
