import { tailnetName } from "../../components/talos/config/patches/tailscale.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { rule } from "./rule.ts";

const extension = "siderolabs/tailscale";

/** S4.5: the service is in the image, and the config starts it: neither works without the other. */
export const tailscaleExtension = rule(["tailscale", "image", "patches", "secretPatches"], function* (config) {
  const { tailscale, image } = config;
  const hasExtension = image.extensions.includes(extension);
  if (tailscale.enabled && !hasExtension) {
    yield {
      path: "image.extensions",
      message: `does not contain ${extension}, but tailscale.enabled is on: add it (that changes the image, and nodes that exist need an upgrade)`,
    };
  }
  if (!tailscale.enabled && hasExtension && !hasOwnDocument(config)) {
    yield {
      path: "image.extensions",
      message: `has ${extension}, but tailscale.enabled is off: its service would wait for a config indefinitely and never be healthy`,
    };
  }
});

/** S4.5: without the key nodes would start, and never join the tailnet. */
export const tailscaleKey = rule(["tailscale", "tailscaleAuthKey"], function* ({ tailscale, tailscaleAuthKey }) {
  if (tailscale.enabled && tailscaleAuthKey === undefined) {
    yield {
      path: "tailscaleAuthKey",
      message:
        "is missing, but tailscale.enabled is on: set it with 'npm run pulumi -- config set --secret tailscaleAuthKey --stack <environment> < <file>'",
    };
  }
  if (!tailscale.enabled && tailscaleAuthKey !== undefined) {
    yield { path: "tailscaleAuthKey", message: "is set, but tailscale.enabled is off: it would not be used" };
  }
});

/** A node's name in the tailnet is a DNS label. */
export const tailnetNames = rule(["clusterName", "tailscale", "nodes"], function* ({ clusterName, tailscale, nodes }) {
  if (!tailscale.enabled) return;
  for (const [index, node] of nodes.entries()) {
    const name = tailnetName(tailscale.hostname, clusterName, node.name);
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
      const message = `names nodes[${index}] (${node.name}) '${name}', which is not a DNS label: letters, digits and '-', 63 at most; '{cluster}' and '{node}' are replaced`;
      return yield { path: "tailscale.hostname", message };
    }
  }
});

/** S4.5: kube-vip can announce in a tailnet only if nodes are in one. */
export const tailscaleInterface = rule(["kubeVip", "tailscale"], function* ({ kubeVip, tailscale }) {
  if (kubeVip.interface?.startsWith("tailscale") && !tailscale.enabled) {
    yield {
      path: "kubeVip.interface",
      message: `is ${kubeVip.interface}, but tailscale.enabled is off: no node would have that interface`,
    };
  }
});

function hasOwnDocument({ patches, secretPatches }: Pick<ClusterConfig, "patches" | "secretPatches">): boolean {
  return [...patches, ...secretPatches].some(
    ({ patch }) => patch.kind === "ExtensionServiceConfig" && patch.name === "tailscale",
  );
}
