import { networkOf, overlaps } from "../../components/network/cidr.ts";
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

/** S4.5: the range of all tailnets. Nodes drop packets from it that do not come through the tailnet. */
const tailnetRange = "100.64.0.0/10";

export const tailnetRanges = rule(["tailscale", "network"], function* ({ tailscale, network }) {
  if (!tailscale.enabled) return;
  for (const key of ["nodeCidr", "podCidr", "serviceCidr"] as const) {
    if (!overlaps(network[key], tailnetRange)) continue;
    const message = `${network[key]} overlaps ${tailnetRange}, the addresses of tailnets: nodes drop packets from these that do not come from the tailnet`;
    yield { path: `network.${key}`, message };
  }
  for (const [index, route] of tailscale.routes.entries()) {
    const path = `tailscale.routes[${index}]`;
    if (route !== networkOf(route)) {
      yield { path, message: `${route} is an address in a range, not a range: did you mean ${networkOf(route)}?` };
    } else if (route === "0.0.0.0/0") {
      yield {
        path,
        message: "is everything, which Tailscale announces of exit nodes only: use extraArgs: [--advertise-exit-node]",
      };
    }
  }
});

/** Arguments of `tailscale up` that other keys set, each with that key. */
const ownedArgs: Readonly<Record<string, string>> = {
  "auth-key": "tailscaleAuthKey, which is secret",
  authkey: "tailscaleAuthKey, which is secret",
  "login-server": "tailscale.loginServer",
  hostname: "tailscale.hostname",
  "advertise-routes": "tailscale.routes",
};

/** S4.5: one that is given twice fails, and a key among them would be in plain text. Its value is not shown. */
export const tailscaleArgs = rule(["tailscale"], function* ({ tailscale }) {
  for (const [index, arg] of tailscale.extraArgs.entries()) {
    const name = arg.replace(/^--?/, "").replace(/=.*$/s, "");
    const key = ownedArgs[name];
    if (key !== undefined)
      yield { path: `tailscale.extraArgs[${index}]`, message: `--${name} cannot be set here: use ${key}` };
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
