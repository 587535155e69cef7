// What drifts in the cluster and in what opens it: made by hand, found and named by a refresh, and mended or refused by the next `up`.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { Chain } from "../lab/support/chain.ts";
import { type DriftName, findDrift, noDrift } from "../lab/support/drifts.ts";

jest.setTimeout(300_000);

const named = (...names: readonly [DriftName, ...DriftName[]]) => `U3 ${names.join(", ")}`;

describe("a platform that drifts", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 1, workers: 1 });
    await chain.up();
  });
  afterAll(() => chain?.down());

  test(`${named("a client's certificate near its end")}: a certificate for ten days is named, and another one made`, async () => {
    await chain.talosctl("--nodes", "10.0.1.11", "config", "new", "short.yaml", "--crt-ttl", "240h");
    const [{ crt, key }] = Object.values<{ crt: string; key: string }>(
      parse(readFileSync(join(chain.lab.files, "short.yaml"), "utf8")).contexts,
    ) as [{ crt: string; key: string }];
    const ends = new Date(new X509Certificate(Buffer.from(crt, "base64")).validTo).toISOString();
    await chain.rewrite(({ type, urn, inputs = {}, outputs = {} }) => {
      if (urn.endsWith(":ClientCertificate::test-talosconfig")) inputs.ends = outputs.ends = ends;
      if (type !== "talos:machine/secrets:Secrets") return;
      const secret = outputs.clientConfiguration as { plaintext: string };
      const given = { ...JSON.parse(secret.plaintext), clientCertificate: crt, clientKey: key };
      outputs.clientConfiguration = { ...secret, plaintext: JSON.stringify(given) };
    });

    const { drifts } = await findDrift(chain);
    expect(drifts).toContain(`talosconfig: its client's certificate ends on ${ends.slice(0, 10)}, in 9 days`);
    await chain.up();
    expect((await chain.outputs()).clientCertificateDaysLeft).toBeGreaterThan(360);
    expect(await chain.talosctl("version", "--short", "--nodes", "10.0.1.21")).toContain("v1.13.8");
    await noDrift(chain);
  });
});
