import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { placeOnLab } from "../../../scripts/lab/placeOnLab.ts";
import { readClusterConfigFile } from "../../../stacks/configFile.ts";
import { settingsPath } from "../../support/cli.ts";

const text = (...changes: [from: string | RegExp, to: string][]) =>
  changes.reduce((changed, [from, to]) => changed.replace(from, to), readFileSync(settingsPath("home"), "utf8"));
const more = (lines: string): [RegExp, string] => [/$/, `${lines}\n`];
const placed = (settings: string) => readClusterConfigFile(settingsPath("home"), placeOnLab(settings, "home")).config;

describe("an environment that is put on a lab", () => {
  test.each(["home", "cloud", "dev"])(
    "U1 %s is without a fault there, with the lab's charts and its repository",
    (name) => {
      const file = settingsPath(name);
      const { config } = readClusterConfigFile(file, placeOnLab(readFileSync(file, "utf8"), "second"));
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

  test("takes no account along, and no secret of a repository that it does not fetch", () => {
    const secret = '{ secure: "v1:x:y" }';
    const settings = placeOnLab(
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

  test("has no Flux where it wants none, and the repository and charts of its own that a lab reaches", () => {
    expect(placed(text(more("  sluice:flux: { enabled: false }"))).flux).toMatchObject({ enabled: false });
    const own = more("  sluice:flux: { url: http://192.0.2.30/mine.git }\n  sluice:charts: { path: ./charts }");
    expect(placed(text(own))).toMatchObject({
      flux: { url: "http://192.0.2.30/mine.git" },
      charts: { path: "./charts" },
    });
  });

  test("has the lab's one version of each chart, and keeps the rest of what it says of them", () => {
    const { cilium } = placed(
      text(more("  sluice:cilium: { version: 1.18.1, values: { hubble: { enabled: true } } }")),
    );
    expect(cilium.version).not.toBe("1.18.1");
    expect(cilium.values).toEqual({ hubble: { enabled: true } });
  });

  test("finds Proxmox at an address, and takes the certificate that it made itself", () => {
    const { proxmox } = placed(
      text(["https://10.0.0.2:8006", "https://pve.example.com:8006"], ["insecure: true", "insecure: false"]),
    );
    expect(proxmox).toMatchObject({ endpoint: "https://192.0.2.40:8006", insecure: true });
  });

  test("is left as it is where it cannot be read: the engine tells what is wrong", () => {
    for (const broken of ["config: [", "other: 1\n"]) expect(placeOnLab(broken, "home")).toBe(broken);
  });
});
