import { describe, expect, test } from "@jest/globals";
import { talosApiAccessPatches } from "../../../../../components/talos/config/patches/talosApiAccess.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const schedule = {
  ageRecipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"],
  backup: { schedule: "@daily", s3: { endpoint: "https://s3.example.org", bucket: "backups" } },
  backupS3AccessKey: "a",
  backupS3SecretKey: "b",
};

describe.each(talosVersions)("access of pods to Talos' API on Talos %s (S7.3)", (version) => {
  test("is off unless the cluster takes backups by itself", () => {
    const input = machineInput(version);
    expect(talosApiAccessPatches(input, machineNode(input, "cp-1"))).toStrictEqual([]);
  });

  test("is for etcd snapshots from one namespace only, and issued by control planes", () => {
    const input = machineInput(version, schedule);
    expect(talosApiAccessPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      {
        machine: {
          features: {
            kubernetesTalosAPIAccess: {
              enabled: true,
              allowedRoles: ["os:etcd:backup"],
              allowedKubernetesNamespaces: ["sluice-backup"],
            },
          },
        },
      },
    ]);
    expect(talosApiAccessPatches(input, machineNode(input, "w-1"))).toStrictEqual([]);
  });
});
