import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { ProxmoxSettings } from "../model/settings/proxmox.ts";
import { type ChartArgs, chartRelease } from "./chartRelease.ts";
import { proxmoxCsiChart, proxmoxStorageClass } from "./proxmoxCsiChart.ts";

/** How the driver reaches the Proxmox cluster. */
export interface ProxmoxCsiAccount extends Pick<ProxmoxSettings, "endpoint" | "insecure" | "region"> {
  /** `<user>@<realm>!<name>`. */
  readonly tokenId: pulumi.Input<string>;
  readonly tokenSecret: pulumi.Input<string>;
}

export interface ProxmoxCsiArgs extends ChartArgs, Pick<ProxmoxSettings["volumes"], "filesystem" | "reclaimPolicy"> {
  readonly account: ProxmoxCsiAccount;
  /** The Proxmox storage for volumes. */
  readonly storage: string;
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
        // The driver reads it once. Another token is another Secret with another name, so that the driver restarts.
        immutable: true,
        stringData: { "config.yaml": driverConfig(account) },
      },
      { parent: this },
    );
    const values = {
      existingConfigSecret: config.metadata.name,
      // In a cluster without workers it runs on control planes.
      tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" }],
      // Every node must be able to have volumes, whatever its taints.
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

/** https://github.com/sergelogvinov/proxmox-csi-plugin/blob/main/docs/config.md; JSON is valid YAML. */
function driverConfig({ endpoint, insecure, region, tokenId, tokenSecret }: ProxmoxCsiAccount): pulumi.Output<string> {
  const url = `${endpoint.replace(/\/$/, "")}/api2/json`;
  const text = pulumi
    .all([tokenId, tokenSecret])
    .apply(([id, secret]) =>
      JSON.stringify({ clusters: [{ url, insecure, token_id: id, token_secret: secret, region }] }),
    );
  return pulumi.secret(text);
}
