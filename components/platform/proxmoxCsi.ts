import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type ChartArgs, chartRelease } from "./chartRelease.ts";
import { proxmoxCsiChart, proxmoxStorageClass } from "./proxmoxCsiChart.ts";

/** What the driver knows the Proxmox cluster by. */
export interface ProxmoxCsiAccount {
  /** The Proxmox API: `https://<host>:8006`. */
  readonly endpoint: string;
  readonly insecure: boolean;
  /** What the nodes' label `topology.kubernetes.io/region` says. */
  readonly region: string;
  /** `<user>@<realm>!<name>`. */
  readonly tokenId: pulumi.Input<string>;
  readonly tokenSecret: pulumi.Input<string>;
}

export interface ProxmoxCsiArgs extends ChartArgs {
  readonly account: ProxmoxCsiAccount;
  /** The Proxmox storage that volumes lie on. */
  readonly storage: string;
  readonly filesystem: "ext4" | "xfs";
  /** What becomes of a volume when its claim is deleted. */
  readonly reclaimPolicy: "Delete" | "Retain";
}

/** Volumes of a Proxmox cluster, storage class `proxmox-volumes`. */
export class ProxmoxCsi extends pulumi.ComponentResource {
  constructor(name: string, args: ProxmoxCsiArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:ProxmoxCsi", name, {}, opts);
    const { storage, filesystem, reclaimPolicy, account } = args;
    const config = new kubernetes.core.v1.Secret(
      `${name}-config`,
      {
        metadata: { namespace: proxmoxCsiChart.namespace },
        // The driver reads it once. Another token is another Secret of another name, and so the driver starts anew.
        immutable: true,
        stringData: { "config.yaml": driverConfig(account) },
      },
      { parent: this },
    );
    const values = {
      existingConfigSecret: config.metadata.name,
      // On a cluster of control planes alone there is no other place.
      tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" }],
      // Every node is to have volumes, whatever its taints are.
      node: { tolerations: [{ operator: "Exists" }] },
      storageClass: [
        {
          name: proxmoxStorageClass,
          storage,
          fstype: filesystem,
          reclaimPolicy,
          annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
        },
      ],
    };
    chartRelease(`${name}-release`, proxmoxCsiChart, { ...args, values }, { parent: this });
    this.registerOutputs();
  }
}

/** https://github.com/sergelogvinov/proxmox-csi-plugin/blob/main/docs/config.md; what is JSON is YAML too. */
function driverConfig({ endpoint, insecure, region, tokenId, tokenSecret }: ProxmoxCsiAccount): pulumi.Output<string> {
  const url = `${endpoint.replace(/\/$/, "")}/api2/json`;
  const text = pulumi
    .all([tokenId, tokenSecret])
    .apply(([id, secret]) =>
      JSON.stringify({ clusters: [{ url, insecure, token_id: id, token_secret: secret, region }] }),
    );
  return pulumi.secret(text);
}
