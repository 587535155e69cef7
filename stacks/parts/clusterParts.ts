// Which parts and gates the cluster of an environment has.
import type { OptionalPart } from "../../components/gates/clusterFacts.ts";
import type { AnyGate } from "../../components/gates/gateDefinition.ts";
import { gates } from "../../components/gates/registry.ts";
import { hasVolumes } from "../platforms/platform.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";

type PartsConfig = Pick<ClusterConfig, "platform" | "network" | "csi" | "sealedSecrets" | "flux" | "backup">;

export function clusterParts(config: PartsConfig): Readonly<Record<OptionalPart, boolean>> {
  const { network, sealedSecrets } = config;
  return {
    kubeVip: network.vip !== undefined && network.vipBy === "kube-vip",
    virtualAddress: network.vip !== undefined,
    volumes: hasVolumes(config),
    sealedSecrets: sealedSecrets.enabled,
    gitOps: hasFlux(config),
    backups: hasBackups(config),
  };
}

export function hasFlux({ flux }: Pick<ClusterConfig, "flux">): boolean {
  return flux.url !== undefined && (flux.enabled ?? true);
}

export function hasBackups({ backup: { folder, s3 } }: Pick<ClusterConfig, "backup">): boolean {
  return folder !== undefined || s3 !== undefined;
}

/** In the order of the chain. */
export function gatesOf(config: PartsConfig): readonly AnyGate[] {
  const parts = clusterParts(config);
  return gates.filter(({ part }) => part === undefined || parts[part]);
}
