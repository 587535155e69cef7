// With an environment of the test in the checkout, like a user's.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";

/** Whatever the user has deployed on labs. */
const work = mkdtempSync(join(tmpdir(), "sluice-environment-"));
const labsFolder = join(work, "lab");
let labEnvironment: typeof import("../../../scripts/lab/environment.ts").labEnvironment;
let labSetup: typeof import("../../../scripts/lab/environment.ts").labSetup;
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  ({ labEnvironment, labSetup } = await import("../../../scripts/lab/environment.ts"));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const settingsPath = (environment: string) => join(import.meta.dirname, "../../..", `Pulumi.${environment}.yaml`);
const name = `test-${process.pid}-lab`;
afterEach(() => rmSync(settingsPath(name), { force: true }));

/** The dev environment, changed. */
function add(...changes: [from: string | RegExp, to: string][]): void {
  const text = readFileSync(settingsPath("dev"), "utf8");
  writeFileSync(
    settingsPath(name),
    changes.reduce((changed, [from, to]) => changed.replace(from, to), text),
  );
}

describe("an environment that names a lab", () => {
  test("U1 is dev: with the snapshot of its Talos, the lab's charts, and no key of its own", async () => {
    expect(await labEnvironment("dev")).toMatchObject({
      lab: "default",
      platform: { snapshots: [{ talos: "1.13.8", arch: "amd64" }] },
      hasLabCharts: true,
      lacksSealingKey: true,
    });
  });

  test("has its snapshot in that lab, and in no other", async () => {
    add(["{ name: default }", "{ name: of-a-test }"], ["1.13.8", "1.12.6"], ["1.36.4", "1.35.4"]);
    const versions = async (lab: string) => (await labSetup(lab)).platform.snapshots?.map(({ talos }) => talos);
    expect(await versions("of-a-test")).toEqual(["1.12.6"]);
    expect(await versions("default")).toEqual(["1.13.8"]);
    expect(await labSetup("of-nobody")).toEqual({ platform: {}, talosVersions: [] });
    expect(await labSetup("of-a-test")).toMatchObject({ talosVersions: ["1.12.6"] });
  });

  test("that has sealing keys, encrypted, or no sealed-secrets, gets none", async () => {
    const secret = (key: string) => `  sluice:sealedSecrets${key}: { secure: "v1:x:y" }\n`;
    add([/$/, `${secret("Certificate")}${secret("Key")}`]);
    expect(await labEnvironment(name)).toMatchObject({ lacksSealingKey: false });
    add([/$/, "  sluice:sealedSecrets: { enabled: false }\n"]);
    expect(await labEnvironment(name)).toMatchObject({ lacksSealingKey: false });
  });

  test("and its own charts keeps them", async () => {
    add([".work/charts", "./my/charts"]);
    expect(await labEnvironment(name)).toMatchObject({ hasLabCharts: false });
  });

  test("U1 is refused with all its faults before a lab is started, and does not affect what a lab contains", async () => {
    add(
      ["10.0.1.11", "10.9.1.11"],
      ["clusterName: dev", "clusterName: Dev"],
      ["{ name: default }", "{ name: of-a-test }"],
    );
    await expect(labEnvironment(name)).rejects.toThrow(/^Pulumi\.test-\d+-lab\.yaml has \d faults:\n {2}clusterName: /);
    expect(await labSetup("of-a-test")).toEqual({ platform: {}, talosVersions: [] });
  });

  test("U1 in a file that is not YAML is refused with the line", async () => {
    add([/sluice:platform: hetzner/, "sluice:platform: [hetzner"]);
    await expect(labEnvironment(name)).rejects.toMatchObject({
      name: "SettingsFileError",
      message: expect.stringMatching(/Pulumi\.test-\d+-lab\.yaml:\d+:\d+: /),
    });
  });

  test.each(["home", "cloud"])("%s does not", async (other) => {
    expect(await labEnvironment(other)).toBeUndefined();
  });
});

describe("an environment of a real platform", () => {
  test("U1 is put on its own lab, which has its Proxmox; its file does not change", async () => {
    const on = await labEnvironment("home", "");
    expect(on).toMatchObject({
      lab: "home",
      platform: { proxmox: { address: "10.0.0.2", port: 8006, hosts: ["pve"], network: "10.0.0.0/16" } },
      hasLabCharts: true,
      lacksSealingKey: true,
    });
    expect(on?.settings).toContain("sluice:lab:");
    expect(await labEnvironment("home")).toBeUndefined();
  });

  test("is put on the lab that is named, as is one whose file names another", async () => {
    expect(await labEnvironment("cloud", "second")).toMatchObject({
      lab: "second",
      platform: { snapshots: [{ talos: "1.13.8" }] },
    });
    expect(await labEnvironment("dev", "second")).toMatchObject({ lab: "second" });
    expect(await labEnvironment("dev", "")).toMatchObject({ lab: "default" });
  });

  test.each([
    ["hcloud:token", "the token of its account"],
    ["sluice:fluxGitPassword", "a secret of its repository"],
  ])(
    "S5.3 U1 is refused on a lab with a secret in plain text that the lab would replace, without showing it: %s, %s",
    async (key) => {
      add(
        [/\n {2}sluice:lab: .*/, ""],
        ["http://192.0.2.30/", "https://git.example.org/"],
        [/$/, `  ${key}: hunter2\n`],
      );
      await expect(labEnvironment(name, "second")).rejects.toThrow(
        new RegExp(
          `^(?!.*hunter2)Pulumi\\.${name}\\.yaml has 1 fault:\n {2}${key.replace("sluice:", "")}: is in plain text: `,
          "s",
        ),
      );
    },
  );

  test("U1 is refused on a lab with an invalid name", async () => {
    await expect(labEnvironment("home", "../other")).rejects.toThrow("lab.name: must be 1 to 32 of a-z, 0-9 and -");
  });

  test("stays on the lab where it was put, as long as that is recorded", async () => {
    const deployed = join(labsFolder, "home.deployed.json");
    mkdirSync(labsFolder, { recursive: true });
    writeFileSync(deployed, JSON.stringify({ lab: "second", life: { pid: 1, start: 1, boot: "" } }));
    expect(await labEnvironment("home")).toMatchObject({ lab: "second" });
    expect((await labSetup("second")).platform).toMatchObject({ proxmox: { address: "10.0.0.2" } });
    rmSync(deployed);
    expect(await labEnvironment("home")).toBeUndefined();
  });
});
