import { rule } from "./rule.ts";

/** Only Hetzner's driver is known here. */
export const volumes = rule(["platform", "csi"], function* ({ platform, csi }) {
  if (csi.enabled === true && platform !== "hetzner") {
    yield {
      path: "csi.enabled",
      message: `is true, but there is no driver for platform '${platform}' here: remove it, and bring one through git`,
    };
  }
});
