// Of an environment of a test's own, in the checkout as a person's would be.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";

/** What a person has deployed on labs is no concern of a test. */
const work = mkdtempSync(join(tmpdir(), "sluice-environment-"));
const labsFolder = join(work, "lab");
let labEnvironment: typeof import("../../../scripts/lab/environment.ts").labEnvironment;
let labPlatform: typeof import("../../../scripts/lab/environment.ts").labPlatform;
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  ({ labEnvironment, labPlatform } = await import("../../../scripts/lab/environment.ts"));
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
    const versions = async (lab: string) => (await labPlatform(lab)).snapshots?.map(({ talos }) => talos);
    expect(await versions("of-a-test")).toEqual(["1.12.6"]);
    expect(await versions("default")).toEqual(["1.13.8"]);
    expect(await labPlatform("of-nobody")).toEqual({});
  });

  test("that has sealing keys, encrypted, or no sealed-secrets, is not given one", async () => {
    const secret = (key: string) => `  sluice:sealedSecrets${key}: { secure: "v1:x:y" }\n`;
    add([/$/, `${secret("Certificate")}${secret("Key")}`]);
    expect(await labEnvironment(name)).toMatchObject({ lacksSealingKey: false });
    add([/$/, "  sluice:sealedSecrets: { enabled: false }\n"]);
    expect(await labEnvironment(name)).toMatchObject({ lacksSealingKey: false });
  });

  test("and charts of its own keeps them", async () => {
    add([".work/charts", "./my/charts"]);
    expect(await labEnvironment(name)).toMatchObject({ hasLabCharts: false });
  });

  test("U1 is refused with all its faults before a lab is started, and has no say in what a lab is given", async () => {
    add(
      ["10.0.1.11", "10.9.1.11"],
      ["clusterName: dev", "clusterName: Dev"],
      ["{ name: default }", "{ name: of-a-test }"],
    );
    await expect(labEnvironment(name)).rejects.toThrow(/^The configuration has \d faults:\n {2}clusterName: /);
    expect(await labPlatform("of-a-test")).toEqual({});
  });

  test("U1 in a file that is no YAML is told with the place", async () => {
    add([/sluice:platform: hetzner/, "sluice:platform: [hetzner"]);
    await expect(labEnvironment(name)).rejects.toMatchObject({
      name: "Failure",
      message: expect.stringMatching(/Pulumi\.test-\d+-lab\.yaml:\d+:\d+: /),
    });
  });

  test.each(["home", "cloud"])("%s does not", async (other) => {
    expect(await labEnvironment(other)).toBeUndefined();
  });
});

describe("an environment of a real platform", () => {
  test("U1 is put on a lab of its own, which has its Proxmox; its file stays as it is", async () => {
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

  test("U1 is refused on a lab of no name", async () => {
    await expect(labEnvironment("home", "../other")).rejects.toThrow("lab.name: must be 1 to 32 of a-z, 0-9 and -");
  });

  test("stays on the lab where it was put, until it is known no more to be there", async () => {
    const deployed = join(labsFolder, "home.deployed.json");
    mkdirSync(labsFolder, { recursive: true });
    writeFileSync(deployed, JSON.stringify({ lab: "second", life: { pid: 1, start: 1, boot: "" } }));
    expect(await labEnvironment("home")).toMatchObject({ lab: "second" });
    expect(await labPlatform("second")).toMatchObject({ proxmox: { address: "10.0.0.2" } });
    rmSync(deployed);
    expect(await labEnvironment("home")).toBeUndefined();
  });
});
