import { afterEach, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { hetznerToken } from "../../stacks/hetznerToken.ts";
import { record, unwrap } from "../support/mocks.ts";

const { HCLOUD_TOKEN, HCLOUD_ENDPOINT } = process.env;
afterEach(() => {
  for (const [name, value] of Object.entries({ HCLOUD_TOKEN, HCLOUD_ENDPOINT })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

async function tokenOf(lab: { name: string } | undefined, endpoint: string | undefined, preview: boolean) {
  process.env.HCLOUD_TOKEN = "of-a-real-account";
  if (endpoint === undefined) delete process.env.HCLOUD_ENDPOINT;
  else process.env.HCLOUD_ENDPOINT = endpoint;
  const { result } = await record(() => hetznerToken({ lab }), { preview });
  return { value: (await unwrap(pulumi.output(result.value))).value, isStandIn: result.isStandIn };
}

describe("the token of an environment on a lab", () => {
  const lab = { name: "default" };

  test("U1 is the lab's inside of it", async () => {
    const inside = await tokenOf(lab, "http://192.0.2.10/v1", false);
    expect(inside).toEqual({ value: "of-a-real-account", isStandIn: false }); // the lab has set the variable to its own
  });

  test.each([undefined, "https://api.hetzner.cloud/v1"])(
    "U1 is no account's outside of it: endpoint %s",
    async (at) => {
      await expect(tokenOf(lab, at, false)).rejects.toThrow(
        "this environment runs on the lab 'default', and this is not in it: use 'npm run up -- <environment>', which starts the lab and enters it",
      );
      expect(await tokenOf(lab, at, true)).toEqual({ value: expect.stringMatching(/^preview-/), isStandIn: true });
    },
  );

  test("U1 is the account's where there is no lab", async () => {
    expect(await tokenOf(undefined, undefined, false)).toEqual({ value: "of-a-real-account", isStandIn: false });
  });
});
