import { join } from "node:path";
import { beforeAll, describe, expect, jest, test } from "@jest/globals";
import { proxmoxApiToken } from "../support/proxmoxMocks.ts";
import { runChild } from "../support/runChild.ts";

jest.setTimeout(120_000);

interface Outcome {
  readonly made: readonly string[];
  readonly failed: readonly string[];
}
type Told = { readonly base: string } & Readonly<Record<"asAsked" | "left" | "preview", Outcome>>;

describe("what is in the cluster, where its provider does not reach the API", () => {
  let told: readonly Told[];
  let said: string;
  beforeAll(async () => {
    const env = { ...process.env, HCLOUD_TOKEN: "the-token", PROXMOX_VE_API_TOKEN: proxmoxApiToken };
    const program = join(import.meta.dirname, "../support/leftPrograms.ts");
    const { stdout, stderr, code } = await runChild(process.execPath, [program], { env });
    said = stdout + stderr;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    told = JSON.parse(stdout);
  });

  test("S1.8 fails the up, each resource by its kind and name, and secrets are not told", () => {
    for (const { left } of told) {
      expect(left.failed.map((message) => message.split(" ")[1]).sort()).toEqual(left.made.toSorted());
      for (const message of left.failed)
        expect(message).toMatch(/^SLU-K201 \w+ \S+ is not what it should be \(.+\): .* Run it again\.$/);
    }
    expect(said).not.toMatch(/geheim|the-token|the-secret|AGE-SECRET|Z2VoZWlt/);
  });

  test("S1.8 is of every kind that the platform makes", () => {
    expect([...new Set(told.flatMap(({ left }) => left.made))].sort()).toEqual([
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

  test("S1.8 fails nothing that is as it was asked for, nor, U2, a preview, which is made without the cluster", () => {
    for (const { asAsked, preview } of told) expect([asAsked.failed, preview.failed]).toEqual([[], []]);
  });
});
