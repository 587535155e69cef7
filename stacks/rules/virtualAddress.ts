import type { Fault } from "../fault.ts";
import { rule } from "./rule.ts";

/** S4.4: the VIP is brought up by one, and what is said for the other would be read by nobody. */
export const virtualAddress = rule(["network", "kubeVip"], function* ({ network, kubeVip }): Generator<Fault> {
  if (network.vipBy === "kube-vip" && network.vip === undefined) {
    yield { path: "network.vipBy", message: "is 'kube-vip', but there is no network.vip for it to bring up" };
  }
  if (network.vipBy === "talos" && kubeVip.interface !== undefined) {
    yield {
      path: "kubeVip.interface",
      message:
        "is set, but network.vipBy is 'talos', which takes the interface that bears the node's address: remove it",
    };
  }
});
