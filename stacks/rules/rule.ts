import { rulesOn } from "../base/rule.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";

/** Makes a rule on environments of any platform. */
export const rule = rulesOn<ClusterConfig>();
