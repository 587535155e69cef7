import { rule } from "./rule.ts";

/** Each platform has its own driver for volumes, or none. */
export const volumes = rule(["platform", "csi"], function* ({ platform, csi }) {
  if (csi.enabled === true && platform.volumes === undefined) {
    yield {
      path: "csi.enabled",
      message: `is true, but Sluice has no driver for platform '${platform.name}': remove it, and install one through git`,
    };
  }
});
