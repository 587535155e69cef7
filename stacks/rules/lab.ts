import { rule } from "./rule.ts";

/** What no lab has, whichever platform it simulates. docs/lab.md */
export const onLab = rule(["lab", "charts"], function* ({ lab, charts }) {
  if (lab !== undefined && charts.path === undefined) {
    yield {
      path: "charts.path",
      message:
        "is missing, and a lab reaches no chart repository: set it to '.work/charts', which Sluice fills for labs",
    };
  }
});
