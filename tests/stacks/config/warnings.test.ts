import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { configWarnings } from "../../../stacks/config/warnings.ts";
import { type Base, changed, rawConfig } from "../../support/rawConfig.ts";

const root = join(import.meta.dirname, "../../..");
const warningsOf = (base: Base, path: string, value: unknown) =>
  configWarnings(parseClusterConfig(changed(rawConfig(base), path, value)));

describe("S2.4 a name that may be newer than Sluice is a warning with its place, and no fault:", () => {
  test.each<[string, Base, string, unknown, string]>([
    [
      "a server type",
      "cloud",
      "hetzner.serverTypes",
      { worker: "cx99" },
      "hetzner.serverTypes.worker: 'cx99' is not known to Sluice as a server type of Hetzner, so it was not checked - did you mean 'cx22'?",
    ],
    [
      "a location",
      "cloud",
      "nodes[0].location",
      "fsn2",
      "nodes[0].location: 'fsn2' is not known to Sluice as a location of Hetzner, so it was not checked - did you mean 'fsn1'?",
    ],
    [
      "a load balancer type",
      "cloud",
      "hetzner.loadBalancer.type",
      "lb41",
      "hetzner.loadBalancer.type: 'lb41' is not known to Sluice as a load balancer type of Hetzner, so it was not checked - did you mean 'lb11'?",
    ],
    [
      "an extension",
      "existing",
      "image",
      { extensions: ["siderolabs/quantum-drive"] },
      "image.extensions[0]: 'siderolabs/quantum-drive' is not known to Sluice as an official extension of Talos, so it was not checked",
    ],
    [
      "a feature gate",
      "existing",
      "machine",
      { kubelet: { featureGates: { QuantumPods: true } } },
      "machine.kubelet.featureGates.QuantumPods: 'QuantumPods' is not known to Sluice as a feature gate of Kubernetes, so it was not checked",
    ],
    [
      "a value of Cilium",
      "home",
      "cilium",
      { values: { quantumRouting: true } },
      "cilium.values.quantumRouting: is not a value that Cilium's chart 1.18.8 lists: it may have no effect",
    ],
  ])("%s", (_, base, path, value, warning) => {
    const [first = "", ...more] = warningsOf(base, path, value);
    expect(more).toEqual([]);
    expect(first.replace(/ - did you mean .*/, "")).toBe(warning.replace(/ - did you mean .*/, ""));
  });
});

test.each(["cloud", "dev", "home"])("the environment that comes with Sluice has no warning: %s", (name) => {
  expect(configWarnings(readClusterConfigFile(join(root, `Pulumi.${name}.yaml`)).config)).toEqual([]);
});
