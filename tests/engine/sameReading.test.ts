// The engine reads an environment's file with another parser than Sluice's commands: what both accept must mean the same.
import { afterAll, expect, jest, test } from "@jest/globals";
import { structured } from "../../stacks/config/configValues.ts";
import { readSettingsFile } from "../../stacks/config/settingsFile.ts";
import { settingsPath, Workbench } from "../support/cli.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

const text = `config:
  sluice:clusterName: same
  sluice:platform: existing
  sluice:endpoint: &name k8s.example.org
  sluice:protect: True
  sluice:stableSeconds: "5"
  sluice:clientCertificateDays: 14
  sluice:sealedSecretsCertificate:
  sluice:services: ~
  sluice:flux: { url: "https://git.example.org/a/b.git", branch: *name, username: yes, revision: "0100", interval: '1m' }
  sluice:apply: { factor: 1.5, retries: 0, parallel: 25% }
  sluice:cilium: { values: { <<: { MTU: 1400, debug: { enabled: false } }, k8sServicePort: 7445, cluster: { name: on } } }
  sluice:patches:
    - name: own
      patch:
        machine:
          sysctls: { a: "8_192", b: "1.10", c: '2026-01-01', d: "null", e: -1, f: 0x, g: 1:30, h: .5x, i: "~", j: "" }
          files:
            - content: |
                first

                second: "0100"
              path: >-
                /var/lib/a
                and more
`;

test("U1 each value that is accepted has the same meaning for the engine and for the commands that run without it", async () => {
  const name = bench.addSettings("same", text);
  const { code, stdout, stderr } = await bench.npm("pulumi", "config", "--json", "--stack", name);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("error") });
  const ofEngine: Record<string, { readonly value?: string }> = JSON.parse(stdout);
  const { own } = readSettingsFile(settingsPath(name));
  const meanings = Object.entries(own).map(([key, value]) => [key, structured(value ?? "")]);
  const others = Object.entries(ofEngine)
    .filter(([key]) => key.slice("sluice:".length) in own)
    .map(([key, { value = "" }]) => [key.slice("sluice:".length), structured(value)]);
  expect(Object.fromEntries(others)).toEqual(Object.fromEntries(meanings));
});
