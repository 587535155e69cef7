import { describe, expect, test } from "@jest/globals";
import { HcloudCloudControllerManager } from "../../../components/platform/hcloudCloudControllerManager.ts";
import { HcloudCsi } from "../../../components/platform/hcloudCsi.ts";
import { HcloudSecret, type HcloudSecretArgs } from "../../../components/platform/hcloudSecret.ts";
import { recordPlatform, release, releaseType, summary } from "./platformResources.ts";

describe("the cloud credentials of Hetzner's programs", () => {
  const make = (args: HcloudSecretArgs) =>
    recordPlatform((provider) => new HcloudSecret("home-hcloud", args, { provider }));

  test("S3.1 are one Secret, which is secret in the state too", async () => {
    const { resources } = await make({ token: "the-token", network: "home" });
    expect(summary(resources)).toEqual([
      {
        type: "kubernetes:core/v1:Secret",
        name: "home-hcloud-secret",
        parent: "sluice:platform:HcloudSecret home-hcloud",
        inputs: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "hcloud", namespace: "kube-system" },
          stringData: { secret: { token: "the-token", network: "home" } },
        },
        dependencies: [],
      },
    ]);
  });

  test("U2 stay unchanged in a preview without a token", async () => {
    const { resources } = await make({ token: "a placeholder", network: "home", keepToken: true });
    expect(resources.map(({ ignoreChanges }) => ignoreChanges)).toEqual([["stringData"], []]);
  });
});

test("S3.2 the cloud controller identifies nodes by their private addresses and makes no routes, which are Cilium's", async () => {
  const args = { version: "1.25.1", podCidr: "10.42.0.0/16", networkZone: "eu-central" };
  const { resources } = await recordPlatform(
    (provider) => new HcloudCloudControllerManager("home-ccm", args, { provider }),
  );
  const name = "hcloud-cloud-controller-manager";
  expect(summary(resources)).toEqual([
    {
      type: releaseType,
      name: "home-ccm-release",
      parent: "sluice:platform:HcloudCloudControllerManager home-ccm",
      inputs: {
        ...release(name, "https://charts.hetzner.cloud", "1.25.1", name, "kube-system"),
        values: {
          networking: { enabled: true, clusterCIDR: "10.42.0.0/16" },
          env: {
            HCLOUD_NETWORK_ROUTES_ENABLED: { value: "false" },
            HCLOUD_LOAD_BALANCERS_NETWORK_ZONE: { value: "eu-central" },
            HCLOUD_LOAD_BALANCERS_USE_PRIVATE_IP: { value: "true" },
          },
        },
      },
      dependencies: [],
    },
  ]);
});

test("S3.2 the driver is the unchanged chart, which reads the token from the same Secret", async () => {
  const { resources } = await recordPlatform(
    (provider) => new HcloudCsi("home-csi", { version: "2.19.0" }, { provider }),
  );
  expect(summary(resources)).toEqual([
    {
      type: releaseType,
      name: "home-csi-release",
      parent: "sluice:platform:HcloudCsi home-csi",
      inputs: {
        ...release("hcloud-csi", "https://charts.hetzner.cloud", "2.19.0", "hcloud-csi", "kube-system"),
        values: {},
      },
      dependencies: [],
    },
  ]);
});
