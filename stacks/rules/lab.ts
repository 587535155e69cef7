import { contains } from "../../components/network/cidr.ts";
import { rule } from "./rule.ts";

/** Whom the lab's cloud sees what runs in the lab come from. */
const labOperator = "192.0.2.100/32";

/** What a lab does not have, and what it does not let through. docs/lab.md */
export const onLab = rule(["lab", "platform", "hetzner", "charts"], function* ({ lab, platform, hetzner, charts }) {
  if (lab === undefined) return;
  if (platform !== "hetzner") {
    yield { path: "lab", message: `plays the Hetzner Cloud alone, but platform is '${platform}': remove it` };
    return;
  }
  const allowed = hetzner?.allowedCidrs ?? [];
  if (allowed.length > 0 && !allowed.some((range) => contains(range, labOperator))) {
    yield {
      path: "hetzner.allowedCidrs",
      message: `leaves out ${labOperator}, where everything comes from that runs in the lab: add it`,
    };
  }
  if (charts.path === undefined) {
    yield {
      path: "charts.path",
      message: "is missing, and the lab reaches no repository of charts: use '.work/charts', where they are put for it",
    };
  }
});
