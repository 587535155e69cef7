// What the platform starts to create and does not complete: the next run recreates it and continues, however often that happens.
import { describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(300_000);

/** What fails once in each run, and what is then partially created. */
const fails = {
  hetzner: [
    ["action add_subnet", "test-subnet"],
    ["action create_server", "test-cp-1"],
    ["action start_server", "test-cp-1"],
  ],
  proxmox: [
    ["task resize", "test-cp-1"],
    ["task qmstart", "test-cp-1"],
  ],
} as const;

describe("S1.6 a resource that was partially created", () => {
  test.each(["hetzner", "proxmox"] as const)("on %s is recreated, and the run continues", async (platform) => {
    const chain = await Chain.of({ platform, controlPlanes: 1, workers: 0 });
    try {
      for (const [name, half] of fails[platform]) {
        await chain.lab.fault({ on: "cloud", name, do: "fail", times: 1 });
        expect(await chain.run("up")).not.toMatchObject({ code: 0 });
        expect(await chain.taintFailedCreations()).toEqual([half]);
      }
      await chain.up();
      expect((await chain.up()).steps).toEqual([]);
    } finally {
      await chain.down();
    }
  });
});
