// A network so slow that every answer of a node takes seconds.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(300_000);

const off = { enabled: false };

describe("nodes whose every answer takes two seconds", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ workers: 1, config: { csi: off, flux: off, sealedSecrets: off } });
    await chain.lab.fault({ on: "talos", do: "delay", delay: "2s" });
  });
  afterAll(() => chain?.down());

  test("S1.7(7) become a cluster, and each gets its config once", async () => {
    await chain.up();
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    const told = chain.lab.facts.all.filter(({ what }) => what === "config").map(({ subject }) => subject);
    expect(told.toSorted()).toEqual(chain.nodes.toSorted());
  });

  test("S1.7(7) apply a change of their configs", async () => {
    chain.configure({ patches: [{ name: "sysctl", patch: { machine: { sysctls: { "vm.swappiness": "10" } } } }] });
    await chain.up();
    expect((await chain.up()).steps).toEqual([]);
  });

  test("S1.7(7) are refreshed without drift, within the time of a refresh", async () => {
    expect(await chain.run("refresh", "--expect-no-changes")).toMatchObject({ code: 0, steps: [] });
  });
});
