import { afterEach, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { hetznerToken } from "../../../stacks/platforms/hetznerToken.ts";
import { record, unwrap } from "../../support/mocks.ts";

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
  return { value: (await unwrap(pulumi.output(result.value))).value, isPlaceholder: result.isPlaceholder };
}

describe("the token of an environment on a lab", () => {
  const lab = { name: "default" };

  test("U1 inside the lab the token is the lab's", async () => {
    const inside = await tokenOf(lab, "http://192.0.2.10/v1", false);
    expect(inside).toEqual({ value: "of-a-real-account", isPlaceholder: false }); // the lab has set the variable to its own token
  });

  test.each([undefined, "https://api.hetzner.cloud/v1"])(
    "U1 outside the lab no account's token is used: endpoint %s",
    async (at) => {
      await expect(tokenOf(lab, at, false)).rejects.toThrow(
        "this environment runs on the lab 'default', and this command runs outside it: use 'npm run up -- <environment>', which starts the lab and runs inside it",
      );
      expect(await tokenOf(lab, at, true)).toEqual({ value: expect.stringMatching(/^preview-/), isPlaceholder: true });
    },
  );

  test("U1 without a lab the token is the account's", async () => {
    expect(await tokenOf(undefined, undefined, false)).toEqual({ value: "of-a-real-account", isPlaceholder: false });
  });
});
