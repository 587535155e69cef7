import { gates } from "../../components/gates/registry.ts";
import type { Fault } from "../base/fault.ts";
import { rule } from "./rule.ts";

/** S3.2: conditions that must hold for longer than the gate may take can never be met. */
export const stabilityWindow = rule(["stableSeconds", "timeouts"], function* ({ stableSeconds, timeouts }) {
  const seconds: Readonly<Record<string, number>> = timeouts;
  const shorter = gates.flatMap(({ name, timeout: { key } }) => {
    const limit = seconds[key];
    return limit === undefined || limit > stableSeconds ? [] : [{ name, key, limit }];
  });
  const first = shorter.toSorted((one, other) => one.limit - other.limit)[0];
  if (first === undefined) return;
  const hint = stableSeconds >= 1000 ? "; the unit is seconds, not milliseconds" : "";
  yield {
    path: "stableSeconds",
    message: `is ${stableSeconds} s, but gate ${first.name} must open within ${first.limit} s (timeouts.${first.key}): use a shorter window, or a longer timeout${hint}`,
  };
});

/** Delays between retries, which must fit into the time that a config may take. */
export const retryDelays = rule(["apply", "timeouts"], function* ({ apply, timeouts }): Generator<Fault> {
  const { firstDelay, maxDelay } = apply;
  if (firstDelay > maxDelay) {
    yield {
      path: "apply.firstDelay",
      message: `is ${firstDelay} s, but apply.maxDelay is ${maxDelay} s: the first delay is the shortest`,
    };
  }
  if (maxDelay >= timeouts.configure) {
    yield {
      path: "apply.maxDelay",
      message: `is ${maxDelay} s, but timeouts.configure is ${timeouts.configure} s: a config would never be sent again`,
    };
  }
});
