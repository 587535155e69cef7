// All plugins, as far as the program uses them: the state of any environment after a successful update.
import type { MockOptions } from "./mocks.ts";
import { proxmoxState } from "./proxmoxMocks.ts";
import { talosMocks } from "./talosMocks.ts";

export const platformMocks: MockOptions = {
  ...talosMocks,
  state: (resource) => {
    const { type, name, inputs } = resource;
    if (type === "hcloud:index/server:Server") return { ...inputs, ipv4Address: `address of ${name}` };
    if (type === "hcloud:index/loadBalancer:LoadBalancer") return { ...inputs, ipv4: "203.0.113.9" };
    if (type.startsWith("proxmoxve:")) return proxmoxState(resource);
    if (type.endsWith(":HetznerSnapshot")) return { ...inputs, snapshotId: "42" };
    if (type.endsWith(":AppliedMachineConfig")) return { ...inputs, configHash: "the-hash", joins: 0 };
    if (type.includes("/gates:")) return { ...inputs, evidence: { revisions: {} }, waitedSeconds: 1 };
    return talosMocks.state?.(resource) ?? inputs;
  },
};
