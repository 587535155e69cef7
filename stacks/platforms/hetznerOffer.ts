// What Hetzner offers now, and what a project has, as far as an environment depends on it.
import type { HetznerApi } from "../../components/api/hetznerApi.ts";
import { hetznerList } from "../../components/api/hetznerApi.ts";
import { newestSnapshot, type Snapshot, type SnapshotQuery } from "../../components/images/hetznerSnapshots.ts";

/** As the API lists it, like everything here. https://docs.hetzner.cloud/reference/cloud */
export interface ServerType {
  readonly name: string;
  /** `x86` or `arm`. */
  readonly architecture: string;
  readonly locations?: readonly {
    readonly name: string;
    /** Whether there are any left. */
    readonly available?: boolean;
    readonly deprecation?: { readonly unavailable_after: string } | null;
  }[];
}

export interface Owned {
  readonly id: number;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface OwnedServer extends Owned {
  readonly server_type: { readonly name: string };
  readonly location?: { readonly name: string };
}

export interface HetznerOffer {
  readonly locations: readonly { readonly name: string; readonly network_zone: string }[];
  readonly serverTypes: readonly ServerType[];
  readonly loadBalancerTypes: readonly { readonly name: string }[];
  readonly snapshot: Snapshot | undefined;
  readonly servers: readonly OwnedServer[];
  readonly networks: readonly Owned[];
  readonly firewalls: readonly Owned[];
  readonly loadBalancers: readonly Owned[];
  readonly placementGroups: readonly Owned[];
}

/** All calls at the same time. */
export async function hetznerOffer(api: HetznerApi, snapshots: SnapshotQuery): Promise<HetznerOffer> {
  const list = <T>(kind: string) => hetznerList(api, kind) as Promise<readonly T[]>;
  const [snapshot, locations, serverTypes, loadBalancerTypes, servers, ...owned] = await Promise.all([
    newestSnapshot(api, snapshots),
    list<HetznerOffer["locations"][number]>("locations"),
    list<ServerType>("server_types"),
    list<{ name: string }>("load_balancer_types"),
    list<OwnedServer>("servers"),
    list<Owned>("networks"),
    list<Owned>("firewalls"),
    list<Owned>("load_balancers"),
    list<Owned>("placement_groups"),
  ]);
  const [networks, firewalls, loadBalancers, placementGroups] = owned;
  return {
    ...{ snapshot, locations, serverTypes, loadBalancerTypes, servers },
    ...{ networks, firewalls, loadBalancers, placementGroups },
  };
}
