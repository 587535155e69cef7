// Of an environment of a test's own, in the checkout as a person's would be.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "@jest/globals";
import { labEnvironment, labSnapshots } from "../../../scripts/lab/environment.ts";
import { settingsPath } from "../../support/cli.ts";

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
      snapshot: { talos: "1.13.8", arch: "amd64" },
      hasLabCharts: true,
      lacksSealingKey: true,
    });
  });

  test("has its snapshot in that lab, and in no other", async () => {
    add(["{ name: default }", "{ name: of-a-test }"], ["1.13.8", "1.12.6"], ["1.36.4", "1.35.4"]);
    expect((await labSnapshots("of-a-test")).map(({ talos }) => talos)).toEqual(["1.12.6"]);
    expect((await labSnapshots("default")).map(({ talos }) => talos)).toEqual(["1.13.8"]);
    expect(await labSnapshots("of-nobody")).toEqual([]);
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
    expect(await labSnapshots("of-a-test")).toEqual([]);
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
