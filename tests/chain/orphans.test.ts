// What a run created and could not record, because the answer got lost. The next run adopts it.
import { describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(900_000);

/** Calls whose answers get lost, each with what a run then adopts. */
const lost = {
  "POST /v1/placement_groups": "placement group test-spread-10-0-1-10",
  "POST /v1/firewalls": "firewall test-apis",
  "POST /v1/networks": "network test",
  "POST /v1/networks/*/actions/add_subnet": "subnet 10.0.1.0/24 of network test",
  "POST /v1/load_balancers": "load balancer test-api",
  "POST /v1/load_balancers/*/actions/attach_to_network": "attachment of load balancer test-api to its network",
  "POST /v1/load_balancers/*/actions/add_service": "service 6443 of load balancer test-api",
  "POST /v1/servers": "server test-cp-1",
};

/** What was adopted, without ids. */
async function adopted(chain: Chain): Promise<readonly string[]> {
  return (await chain.adoptOrphans()).map((title) => title.replace(/ \(id \d+\)/, "")).toSorted();
}

describe("S5.3 what was created and is in no state", () => {
  test("is adopted by the next run, whatever its kind, and nothing is created twice", async () => {
    const chain = await Chain.of({ controlPlanes: 1, workers: 0 });
    try {
      for (const name of Object.keys(lost)) await chain.lab.fault({ on: "cloud", name, do: "lose", times: 1 });
      // The firewall is there, without its rules.
      await chain.lab.fault({ on: "cloud", name: "action set_firewall_rules", do: "fail", times: 1 });
      const found: string[] = [];
      // Each run ends at one of them at least.
      for (const _ of [...Object.keys(lost), "the last one"]) {
        const { code } = await chain.run("up");
        found.push(...(await adopted(chain)));
        if (code === 0) break;
      }
      expect(found.toSorted()).toEqual(Object.values(lost).toSorted());

      expect((await chain.up()).steps).toEqual([]);
      expect(await adopted(chain)).toEqual([]);
      const { servers } = await chain.cloud.call("GET", "/servers");
      expect(servers.map(({ name }: { name: string }) => name)).toEqual(["test-cp-1"]);
    } finally {
      await chain.down();
    }
  });
});
