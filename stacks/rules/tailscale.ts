import { tailnetName } from "../../components/talos/patches/tailscale.ts";
import type { ClusterConfig } from "../schema.ts";
import { rule } from "./rule.ts";

const extension = "siderolabs/tailscale";

/** S4.5: the image brings the service, and the config starts it: each is nothing without the other. */
export const tailscaleExtension = rule(["tailscale", "image", "patches", "secretPatches"], function* (config) {
  const { tailscale, image } = config;
  const isThere = image.extensions.includes(extension);
  if (tailscale.enabled && !isThere) {
    yield {
      path: "image.extensions",
      message: `lacks ${extension}, but tailscale.enabled is on: add it (the image is then another one, and nodes that are there need an upgrade)`,
    };
  }
  if (!tailscale.enabled && isThere && !hasOwnDocument(config)) {
    yield {
      path: "image.extensions",
      message: `has ${extension}, but tailscale.enabled is off: its service would wait for its config for ever and never be healthy`,
    };
  }
});

/** S4.5: without the key nodes would come up, and never into the tailnet. */
export const tailscaleKey = rule(["tailscale", "tailscaleAuthKey"], function* ({ tailscale, tailscaleAuthKey }) {
  if (tailscale.enabled && tailscaleAuthKey === undefined) {
    yield {
      path: "tailscaleAuthKey",
      message:
        "is missing, but tailscale.enabled is on: set it with 'npm run pulumi -- config set --secret tailscaleAuthKey --stack <environment> < <file>'",
    };
  }
  if (!tailscale.enabled && tailscaleAuthKey !== undefined) {
    yield { path: "tailscaleAuthKey", message: "is set, but tailscale.enabled is off: nobody would use it" };
  }
});

/** A name in the tailnet is a DNS label, and a node's own. */
export const tailnetNames = rule(["clusterName", "tailscale", "nodes"], function* ({ clusterName, tailscale, nodes }) {
  if (!tailscale.enabled) return;
  for (const [index, node] of nodes.entries()) {
    const name = tailnetName(tailscale.hostname, clusterName, node.name);
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
      const message = `makes '${name}' of nodes[${index}] (${node.name}), which is no DNS label: letters, digits and '-', 63 at most; '{cluster}' and '{node}' are known`;
      return yield { path: "tailscale.hostname", message };
    }
  }
});

/** S4.5: kube-vip may announce in a tailnet that there is. */
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
