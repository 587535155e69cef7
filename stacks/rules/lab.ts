import { isIPv4 } from "node:net";
import { contains } from "../../components/network/cidr.ts";
import { labOperator } from "../labName.ts";
import { rule } from "./rule.ts";

/** What a lab does not have, and what it does not let through. docs/lab.md */
export const onLab = rule(["lab", "hetzner", "proxmox", "charts"], function* ({ lab, hetzner, proxmox, charts }) {
  if (lab === undefined) return;
  const allowed = hetzner?.allowedCidrs ?? [];
  if (allowed.length > 0 && !allowed.some((range) => contains(range, labOperator))) {
    yield {
      path: "hetzner.allowedCidrs",
      message: `leaves out ${labOperator}, where everything comes from that runs in the lab: add it`,
    };
  }
  if (proxmox !== undefined && !isIPv4(new URL(proxmox.endpoint).hostname)) {
    yield { path: "proxmox.endpoint", message: "must name an address: the lab knows no names" };
  }
  if (proxmox?.insecure === false) {
    yield {
      path: "proxmox.insecure",
      message: "must be true: the lab's Proxmox has a certificate that it made itself",
    };
  }
  if (charts.path === undefined) {
    yield {
      path: "charts.path",
      message: "is missing, and the lab reaches no repository of charts: use '.work/charts', where they are put for it",
    };
  }
});
