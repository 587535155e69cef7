import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { nodePatches } from "../../components/talos/generate/machineConfig.ts";
import { ConfigError } from "../../stacks/base/fault.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { machineNodes } from "../../stacks/machineConfigInput.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { newMachineConfigInput } from "../support/newMachineConfigInput.ts";
import { rawConfig } from "../support/rawConfig.ts";

const macs = ["02:00:00:00:00:0b", "02:00:00:00:00:15"];

test("S2.4 machines whose NIC the config cannot identify are refused, and all others get their patches", () => {
  const version = fc.constantFrom("1.11.6", "1.12.6", "1.13.8");
  const addressing = fc.constantFrom("dhcp", "meta");
  const places = { hasVip: fc.boolean(), isTrunk: fc.boolean(), knowsMac: fc.tuple(fc.boolean(), fc.boolean()) };
  fc.assert(
    fc.property(version, addressing, fc.record(places), (talosVersion, addressing, { hasVip, isTrunk, knowsMac }) => {
      const base = rawConfig("existing");
      const nodes = base.nodes as object[];
      const raw = {
        ...base,
        talosVersion,
        kubernetesVersion: "1.34.2",
        nodes: nodes.map((node, index) => (knowsMac[index] ? { ...node, mac: macs[index] } : node)),
        network: {
          nodeCidr: "10.0.0.0/24",
          gateway: "10.0.0.1",
          nameservers: ["10.0.0.1"],
          addressing,
          ...(hasVip && { vip: "10.0.0.20" }),
          ...(isTrunk && { vlan: { tag: 20, mode: "trunk" } }),
        },
        image: { kernelArgs: ["vlan=eth0.20:eth0"] },
      };
      const needsMac = [addressing === "meta" || isTrunk || hasVip, addressing === "meta" || isTrunk];
      const missing = needsMac.flatMap((needs, index) => (needs && !knowsMac[index] ? [`nodes[${index}].mac`] : []));
      const config = read(raw);
      if (config instanceof ConfigError) {
        expect(config.faults.map(({ path }) => path)).toEqual(missing);
      } else {
        expect(missing).toEqual([]);
        for (const node of machineNodes(config)) nodePatches(newMachineConfigInput(config), node);
      }
    }),
  );
});

function read(raw: Record<string, unknown>): ClusterConfig | ConfigError {
  try {
    return parseClusterConfig(raw);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
