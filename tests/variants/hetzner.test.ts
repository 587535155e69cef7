// A small cluster at Hetzner: what is true on every platform, from nothing to nothing.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";
import { holdsOnEveryPlatform } from "../lab/support/everyPlatform.ts";

jest.setTimeout(300_000);

describe("a control plane and a worker on Hetzner", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ workers: 1 });
    await chain.up();
  });
  afterAll(() => chain?.down());

  holdsOnEveryPlatform({
    chain: () => chain,
    added: { name: "w-2", role: "worker", address: "10.0.1.22" },
    remake: async () => {
      const { servers } = await chain.cloud.call("GET", "/servers?name=test-w-2");
      await chain.cloud.call("DELETE", `/servers/${servers[0].id}`);
      const refresh = await chain.run("refresh");
      expect(refresh.steps).toContainEqual(expect.objectContaining({ op: "delete", name: "test-w-2" }));
    },
  });

  test("leaves nothing in the cloud when it is destroyed (S4.7)", async () => {
    expect(await chain.run("destroy")).toMatchObject({ code: 0 });
    expect(await chain.resources()).toEqual([]);
    expect(await chain.cloud.left()).toEqual([]);
  });
});
