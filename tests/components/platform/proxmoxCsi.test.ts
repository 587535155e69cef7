import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { ProxmoxCsi, type ProxmoxCsiArgs } from "../../../components/platform/proxmoxCsi.ts";
import { recordPlatform, release, releaseType, summary } from "./platformResources.ts";

const args: ProxmoxCsiArgs = {
  version: "0.5.6",
  account: {
    endpoint: "https://10.0.0.2:8006/",
    insecure: true,
    region: "proxmox",
    tokenId: "home-csi@pve!csi",
    tokenSecret: pulumi.secret("the-secret"),
  },
  storage: "local-lvm",
  filesystem: "xfs",
  reclaimPolicy: "Retain",
};

describe("volumes of Proxmox", () => {
  test("S3.2 come from the official chart, with the account in its own Secret and a pod on every node", async () => {
    const { resources } = await recordPlatform((provider) => new ProxmoxCsi("home-csi", args, { provider }));
    const { repositoryOpts: _, ...named } = release(
      "oci://ghcr.io/sergelogvinov/charts/proxmox-csi-plugin",
      "",
      "0.5.6",
      "proxmox-csi-plugin",
      "kube-system",
    );
    const [secret, chart] = summary(resources);
    expect(secret).toEqual({
      type: "kubernetes:core/v1:Secret",
      name: "home-csi-config",
      parent: "sluice:platform:ProxmoxCsi home-csi",
      inputs: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace: "kube-system" },
        immutable: true,
        stringData: {
          secret: {
            "config.yaml":
              '{"clusters":[{"url":"https://10.0.0.2:8006/api2/json","insecure":true,"token_id":"home-csi@pve!csi","token_secret":"the-secret","region":"proxmox"}]}',
          },
        },
      },
      dependencies: [],
    });
    expect(chart).toMatchObject({ type: releaseType, name: "home-csi-release", dependencies: [title(secret)] });
    expect(chart?.inputs).toMatchObject({
      ...named,
      values: {
        tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" }],
        node: { tolerations: [{ operator: "Exists" }] },
        storageClass: [
          {
            name: "proxmox-volumes",
            storage: "local-lvm",
            fstype: "xfs",
            reclaimPolicy: "Retain",
            annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
          },
        ],
      },
    });
  });

  test("have no token in the chart's values, which Helm would keep in another Secret", async () => {
    const { resources } = await recordPlatform((provider) => new ProxmoxCsi("home-csi", args, { provider }));
    const chart = resources.find(({ type }) => type === releaseType);
    expect(JSON.stringify(chart)).not.toContain("the-secret");
  });
});

function title(resource: { type: string; name: string } | undefined): string {
  return `${resource?.type} ${resource?.name}`;
}
