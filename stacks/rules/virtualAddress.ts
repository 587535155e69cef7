import type { Fault } from "../base/fault.ts";
import { rule } from "./rule.ts";

/** S4.4: one program provides the VIP, and settings of the other would not be read. */
export const virtualAddress = rule(["platform", "network", "kubeVip"], function* (config): Generator<Fault> {
  const { platform, network, kubeVip } = config;
  if (network.vip !== undefined && platform.noSharedAddress !== undefined) {
    yield { path: "network.vip", message: platform.noSharedAddress.vip };
  }
  if (network.vipBy === "kube-vip" && network.vip === undefined) {
    yield { path: "network.vipBy", message: "is 'kube-vip', but there is no network.vip for it to provide" };
  }
  if (network.vipBy === "talos" && kubeVip.interface !== undefined) {
    yield {
      path: "kubeVip.interface",
      message: "is set, but network.vipBy is 'talos', which uses the interface that has the node's address: remove it",
    };
  }
});
