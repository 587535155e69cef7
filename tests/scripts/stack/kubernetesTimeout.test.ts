import { expect, test } from "@jest/globals";
import { kubernetesTimeout } from "../../../scripts/stack/kubernetesTimeout.ts";

test.each([
  ["up", "30"],
  ["preview", "2"],
  ["refresh", "2"],
  ["destroy", "2"],
])(
  "S5.2 Helm and other writes have time on a slow API server, and commands that only read do not wait long for one that is gone: %s",
  (command, seconds) => {
    expect(kubernetesTimeout(command, {})).toEqual({ PULUMI_K8S_CLIENT_TIMEOUT: seconds });
  },
);

test("S5.2 the user's own timeout of Kubernetes requests stays", () => {
  expect(kubernetesTimeout("up", { PULUMI_K8S_CLIENT_TIMEOUT: "60" })).toEqual({});
});
