import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse, parseDocument } from "yaml";
import { placeOnLab } from "../../../scripts/lab/placeOnLab.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { settingsPath } from "../../support/cli.ts";

const text = (...changes: [from: string | RegExp, to: string][]) =>
  changes.reduce((changed, [from, to]) => changed.replace(from, to), readFileSync(settingsPath("home"), "utf8"));
const more = (lines: string): [RegExp, string] => [/$/, `${lines}\n`];
const placedText = (settings: string, lab: string) => placeOnLab(parseDocument(settings, { merge: true }), lab);
const placed = (settings: string) => readClusterConfigFile(settingsPath("home"), placedText(settings, "home")).config;

describe("an environment that is put on a lab", () => {
  test.each(["home", "cloud", "dev"])(
    "U1 %s is without a fault there, with the lab's charts and its repository",
    (name) => {
      const file = settingsPath(name);
      const { config } = readClusterConfigFile(file, placedText(readFileSync(file, "utf8"), "second"));
      expect(config).toMatchObject({
        lab: { name: "second" },
        protect: false,
        charts: { path: ".work/charts" },
        flux: { version: "2.9.5", url: "http://192.0.2.30/sample.git" },
      });
    },
  );

  test("S4.1 has the nodes, addresses, VIP and VM ids of its file", () => {
    const { config } = readClusterConfigFile(settingsPath("home"));
    const { nodes, network, image, proxmox } = placed(text());
    expect({ nodes, network, image, proxmox }).toEqual({
      nodes: config.nodes,
      network: config.network,
      image: config.image,
      proxmox: config.proxmox,
    });
  });

  test("has no account, and no secret of a repository that it does not fetch", () => {
    const secret = '{ secure: "v1:x:y" }';
    const settings = placedText(
      text(
        more(`  proxmoxve:apiToken: ${secret}`),
        more(`  sluice:fluxGitPassword: ${secret}`),
        more(`  sluice:sealedSecretsCertificate: ${secret}\n  sluice:sealedSecretsKey: ${secret}`),
        more(`  sluice:secretPatches: ${secret}\nencryptionsalt: v1:a:b`),
        more("  sluice:flux: { url: https://git.example.com/mine.git, username: me }".replace(/^/, "")),
      ).replace(/(encryptionsalt: .*)\n( {2}sluice:flux: .*)\n/, "$2\n$1\n"),
      "home",
    );
    const { config, encryptionsalt } = parse(settings);
    const encrypted = Object.keys(config).filter((key) => config[key]?.secure !== undefined);
    expect(encrypted).toEqual(["sluice:secretPatches"]);
    expect(config["sluice:flux"]).not.toHaveProperty("username");
    expect(encryptionsalt).toBe("v1:a:b");
  });

  test("S7.1 has none of the machine secrets that its file declares: the cluster's credentials are not those of a rehearsal", () => {
    const settings = placedText(
      text(more('  sluice:machineSecrets: { secure: "v1:x:y" }\nencryptionsalt: v1:a:b')),
      "home",
    );
    expect(parse(settings).config).not.toHaveProperty("sluice:machineSecrets");
  });

  test("has no Flux if it is disabled, and keeps the repository and charts that a lab can reach", () => {
    expect(placed(text(more("  sluice:flux: { enabled: false }"))).flux).toMatchObject({ enabled: false });
    const own = more("  sluice:flux: { url: http://192.0.2.30/mine.git }\n  sluice:charts: { path: ./charts }");
    expect(placed(text(own))).toMatchObject({
      flux: { url: "http://192.0.2.30/mine.git" },
      charts: { path: "./charts" },
    });
  });

  test("has the lab's version of each chart, and keeps their other settings", () => {
    const { cilium } = placed(
      text(more("  sluice:cilium: { version: 1.18.1, values: { hubble: { enabled: true } } }")),
    );
    expect(cilium.version).not.toBe("1.18.1");
    expect(cilium.values).toEqual({ hubble: { enabled: true } });
  });

  test("has Proxmox at an address, and accepts its self-signed certificate", () => {
    const { proxmox } = placed(
      text(["https://10.0.0.2:8006", "https://pve.example.com:8006"], ["insecure: true", "insecure: false"]),
    );
    expect(proxmox).toMatchObject({ endpoint: "https://192.0.2.40:8006", insecure: true });
  });
});
