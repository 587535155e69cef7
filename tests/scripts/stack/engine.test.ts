import { afterEach, describe, expect, test } from "@jest/globals";
import { engineCall } from "../../../scripts/stack/engine.ts";
import type { Stack } from "../../../scripts/stack/stack.ts";
import type { Toolchain } from "../../../scripts/toolchain/toolchain.ts";

const toolchain = { pulumi: "/tools/pulumi" } as Toolchain;
const stack = (name: string): Stack => {
  return { name, lab: undefined, environment: {}, options: [], local: undefined };
};
const { HTTPS_PROXY } = process.env;
afterEach(() => {
  if (HTTPS_PROXY === undefined) delete process.env.HTTPS_PROXY;
  else process.env.HTTPS_PROXY = HTTPS_PROXY;
});

/** What the engine of an environment is started with: the call of its starter, if it has one. */
async function starterOf(environment: string, command: string) {
  const { program, args } = await engineCall(toolchain, stack(environment), [command, "--yes"]);
  if (program === toolchain.pulumi) {
    expect(args).toEqual([command, "--yes"]);
    return undefined;
  }
  const [file, call = "", ...rest] = args;
  expect({ program, file }).toEqual({ program: process.execPath, file: expect.stringMatching(/besideEngine\.ts$/) });
  expect(rest).toEqual([toolchain.pulumi, command, "--yes"]);
  return JSON.parse(call);
}

describe("S5.2 the engine", () => {
  test.each(["up", "refresh", "destroy"])(
    "of a Hetzner environment gets a proxy for its calls: %s",
    async (command) => {
      expect(await starterOf("cloud", command)).toEqual({
        title: "Hetzner",
        proxied: { by: "address", variable: "HCLOUD_ENDPOINT", usualUrl: "https://api.hetzner.cloud/v1" },
      });
    },
  );

  test("of a Proxmox environment gets a tunnel, unless the network has a proxy of its own", async () => {
    delete process.env.HTTPS_PROXY;
    const proxied = { by: "tunnel", variable: "SLUICE_PROXMOX_TUNNEL" };
    expect(await starterOf("home", "up")).toEqual({ title: "Proxmox", proxied });
    process.env.HTTPS_PROXY = "http://proxy.lan:3128";
    expect(await starterOf("home", "up")).toBeUndefined();
    expect(await starterOf("cloud", "up")).toMatchObject({ title: "Hetzner" });
  });

  test.each(["preview", "stack", "config"])("calls no platform, and gets none: %s", async (command) => {
    expect(await starterOf("cloud", command)).toBeUndefined();
  });
});
