// What drifts on nodes: made by hand, found and named by a refresh, and mended or refused by the next `up`.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";
import { type DriftName, findDrift, noDrift, refused } from "../lab/support/drifts.ts";

jest.setTimeout(300_000);

/** One test may show several: what is found together is looked for once. */
const named = (...names: readonly [DriftName, ...DriftName[]]) => `U3 ${names.join(", ")}`;

const off = { enabled: false };

describe("nodes that drift", () => {
  let chain: Chain;
  let server: (name: string) => Promise<{ id: number; name: string }>;
  beforeAll(async () => {
    const config = { csi: off, flux: off, sealedSecrets: off };
    chain = await Chain.of({ controlPlanes: 3, workers: 2, config });
    server = async (name) => (await chain.cloud.call("GET", `/servers?name=test-${name}`)).servers[0];
    await chain.up();
  });
  afterAll(() => chain?.down());

  const act = async (name: string, action: string, body: object = {}) =>
    chain.cloud.call("POST", `/servers/${(await server(name)).id}/actions/${action}`, body);
  const last = () => chain.lab.facts.all.at(-1);
  const rebuilt = async (name: string) => {
    const before = last();
    await act(name, "rebuild", { image: await chain.cloud.snapshot("1.13.8") });
    return chain.lab.until({ subject: chain.server(name), what: "stage", value: "maintenance", after: before });
  };

  test(`${named("another machine behind the address")}: refused and never written to; a fresh one gets its config`, async () => {
    await chain.lab.fault({ on: "pki", subject: "test-w-2", do: "other", times: 1 });
    const before = last();
    await act("w-2", "rebuild", { image: await chain.cloud.snapshot("1.13.8") });
    // It wants a certificate of others, and runs no further than theirs lets it.
    await chain.lab.until({ subject: "test-w-2", what: "api", value: "apid", after: before });
    const { drifts } = await findDrift(chain);
    expect(drifts).toContainEqual(expect.stringMatching(/^node w-2: belongs to another cluster: /));
    const calls = chain.lab.facts.all.length;
    await refused(chain, "Preflight test-preflight", /SLU-T109/, /w-2: /);
    const made = chain.lab.facts.all.slice(calls).filter(({ what }) => what === "call");
    expect(made.filter(({ subject }) => subject === "test-w-2")).toEqual([]);
    await rebuilt("w-2");
    await chain.up();
  });

  test(`${named("a machine that is gone")}: made anew, and a node as before`, async () => {
    await chain.cloud.call("DELETE", `/servers/${(await server("w-1")).id}`);
    const { drifts } = await findDrift(chain);
    expect(drifts).toContain("server test-w-1: is gone");
    await chain.up();
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=30s");
    await noDrift(chain);
  });
});
