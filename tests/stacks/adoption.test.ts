// The program of `npm run adopt`: its resources are those of the chain, and none of them writes.
import { describe, expect, test } from "@jest/globals";
import { adoptCluster, type FoundCluster } from "../../stacks/adoption.ts";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { type RecordedResource, record, title } from "../support/mocks.ts";
import { rawConfig } from "../support/rawConfig.ts";
import { talosMocks } from "../support/talosMocks.ts";

const config = parseClusterConfig(rawConfig("existing"));
const component = { type: "sluice:platform:Cilium", name: `${config.clusterName}-cilium`, of: "cluster" } as const;
const found: FoundCluster = { machines: { byNode: {} }, components: [component] };
const adopted = () => record(() => adoptCluster(config, found), talosMocks);
const adopts = ({ inputs }: RecordedResource) => (inputs as { adopts?: true }).adopts === true;

describe("the program that adopts a cluster (S7.2)", () => {
  test("makes only resources that the chain makes too, in the same components", async () => {
    const place = (one: RecordedResource) => `${one.parent ?? ""} > ${title(one)}`;
    const chain = (await record(() => deployCluster(config), talosMocks)).resources.map(place);
    const { resources } = await adopted();
    expect(resources.map(place).filter((one) => !chain.includes(one))).toEqual([]);
    expect(resources.map(title)).toContain(title(component));
  });

  test("asks every resource that would write to a node to adopt it instead", async () => {
    const { resources } = await adopted();
    const types = (all: readonly RecordedResource[]) => new Set(all.map(({ type }) => type.split(":").at(-1)));
    expect(types(resources.filter(adopts))).toEqual(new Set(["AppliedMachineConfig", "Bootstrap"]));
    const dynamic = resources.filter((one) => one.type.startsWith("pulumi-nodejs:dynamic/") && !adopts(one));
    // These only record what they are given when they are created.
    expect(types(dynamic)).toEqual(new Set(["ConfigContract", "QuorumGuard", "Members"]));
  });

  test("calls Kubernetes only where something in it is adopted", async () => {
    const without = await record(() => adoptCluster(config, { ...found, components: [] }), talosMocks);
    expect(without.resources.filter(({ type }) => /kubernetes|Kubeconfig/.test(type))).toEqual([]);
  });
});
