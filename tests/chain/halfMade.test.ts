// What the platform begins to make and does not finish: the next run makes it anew and goes on, however often that is.
import { describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(300_000);

/** What fails once, run by run, and what is half made then. */
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

describe("S1.6 what was half made", () => {
  test.each(["hetzner", "proxmox"] as const)("on %s is made anew, and the run goes on", async (platform) => {
    const chain = await Chain.of({ platform, controlPlanes: 1, workers: 0 });
    try {
      for (const [name, half] of fails[platform]) {
        await chain.lab.fault({ on: "cloud", name, do: "fail", times: 1 });
        expect(await chain.run("up")).not.toMatchObject({ code: 0 });
        expect(await chain.taintHalfMade()).toEqual([half]);
      }
      await chain.up();
      expect((await chain.up()).steps).toEqual([]);
    } finally {
      await chain.down();
    }
  });
});
