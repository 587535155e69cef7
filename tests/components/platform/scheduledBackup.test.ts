import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { ScheduledBackup, scheduledTriggers } from "../../../components/platform/scheduledBackup.ts";
import { secretsText } from "../../support/secretsFixture.ts";
import { recordPlatform, summary } from "./platformResources.ts";

const plan = {
  s3: { endpoint: "https://s3.example.org", region: "fsn1", bucket: "backups", pathStyle: true },
  ...{
    prefix: "sluice/home",
    recipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"],
    keep: 30,
  },
  cluster: { name: "home", id: "the-id", talosVersion: "1.13.8", kubernetesVersion: "1.36.4", nodes: [] },
};
const args = {
  ...{ schedule: "@daily", image: "node:24", plan },
  machineSecrets: pulumi.secret(secretsText),
  credentials: pulumi.secret({ accessKey: "the-key", secretKey: "the-secret" }),
};

describe("backups that the cluster takes (S7.3)", () => {
  const made = async () => {
    const { resources } = await recordPlatform(
      (provider) => new ScheduledBackup("home-scheduled-backup", args, { provider }),
    );
    return summary(resources);
  };
  // biome-ignore lint/suspicious/noExplicitAny: what Kubernetes gets
  const inputsOf = async (name: string): Promise<any> => (await made()).find((one) => one.name === name)?.inputs;

  test("have a certificate of Talos' API that may take etcd snapshots, and nothing else", async () => {
    expect(await inputsOf("home-scheduled-backup-talos-account")).toMatchObject({
      apiVersion: "talos.dev/v1alpha1",
      kind: "ServiceAccount",
      metadata: { name: "sluice-backup", namespace: "sluice-backup" },
      spec: { roles: ["os:etcd:backup"] },
    });
  });

  test("have no secret in plain text but the credentials of the object store, in a Secret", async () => {
    const { stringData } = await inputsOf("home-scheduled-backup-credentials");
    expect(stringData).toEqual({ secret: { accessKey: "the-key", secretKey: "the-secret" } });
    const program = JSON.stringify(await inputsOf("home-scheduled-backup-program"));
    expect(program).not.toMatch(/the-key|the-secret/);
    const { data, binaryData } = await inputsOf("home-scheduled-backup-program");
    expect(JSON.parse(data["plan.json"])).toEqual(plan);
    expect(Buffer.from(binaryData["secrets.yaml.age"], "base64").toString("latin1")).toMatch(
      /^age-encryption\.org\/v1\n/,
    );
  });

  test("run on a control plane, one at a time, as nobody, without the cluster's own credentials", async () => {
    const { spec } = await inputsOf("home-scheduled-backup-job");
    expect(spec).toMatchObject({ schedule: "@daily", timeZone: "Etc/UTC", concurrencyPolicy: "Forbid" });
    const { spec: pod } = spec.jobTemplate.spec.template;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      securityContext: { runAsNonRoot: true, runAsUser: 65534 },
    });
    expect(pod.containers).toMatchObject([{ image: "node:24", securityContext: { readOnlyRootFilesystem: true } }]);
  });

  test("are proven again when the schedule, the image or the program changes", () => {
    const [schedule, image, program] = scheduledTriggers({ schedule: "@daily", image: "node:24" });
    expect([schedule, image]).toEqual(["@daily", "node:24"]);
    expect(program).toMatch(/^[0-9a-f]{64}$/);
  });
});
