import { volumeDriver } from "../volumeDrivers.ts";
import { rule } from "./rule.ts";

/** A driver belongs to what the machines run on. */
export const volumes = rule(["platform", "csi"], function* ({ platform, csi }) {
  if (csi.enabled === true && volumeDriver({ platform }) === undefined) {
    yield {
      path: "csi.enabled",
      message: `is true, but there is no driver for platform '${platform}' here: remove it, and bring one through git`,
    };
  }
});
