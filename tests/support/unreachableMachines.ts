import { settings } from "./cli.ts";

/** An environment of existing machines that do not answer: `up` creates what needs no machine, and ends at the first gate. */
export const unreachableMachines = {
  ...{ platform: "existing", proxmox: undefined, image: undefined, endpoint: "k8s.example.org" },
  nodes: (settings("home").config["sluice:nodes"] as Record<string, unknown>[]).map(({ vmId: _, ...node }) => node),
  network: { nodeCidr: "10.0.0.0/16" },
  timeouts: { preflight: 1 },
  stableSeconds: 0,
};
