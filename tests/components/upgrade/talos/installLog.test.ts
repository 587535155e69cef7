import { describe, expect, test } from "@jest/globals";
import { failureLines, lastInstallation } from "../../../../components/upgrade/talos/installLog.ts";

const image = "factory.example.org/metal-installer/abc:v1.13.8";
const other = "factory.example.org/metal-installer/abc:v1.13.9";
const started = `2026/10/10 10:00:00 [talos] starting upgrade: installer_image=${image}, disk=/dev/sda`;
const line = (text: string) => `2026/10/10 10:00:05 [talos] ${text}`;

describe("S8.3 what machined's log says of installers", () => {
  test.each<[string, string[], object]>([
    ["nothing", [line("machined logger initialized")], { kind: "none" }],
    ["one that has started", [started], { kind: "started", image }],
    [
      "one that has succeeded",
      [started, line("upgrade completed successfully: exit_code=0")],
      { kind: "installed", image },
    ],
    ["one that has failed", [started, line("upgrade failed: exit_code=1")], { kind: "failed", image, exitCode: 1 }],
    [
      "one that was repeated after it failed",
      [started, line("upgrade failed: exit_code=1"), started],
      { kind: "started", image },
    ],
    [
      "the last of two",
      [started, line("upgrade completed successfully: exit_code=0"), started.replace(image, other)],
      { kind: "started", image: other },
    ],
  ])("%s", (_, log, expected) => {
    expect(lastInstallation(log)).toEqual(expected);
  });

  test("the lines that may say why a boot failed are without Talos' prefix, and the others are left out", () => {
    const log = [
      line("phase startEverything (9/9): 1 tasks(s)"),
      line('boot sequence: failed: "no such module"'),
      line("rebooting in 10 seconds"),
    ];
    expect(failureLines(log)).toEqual(['boot sequence: failed: "no such module"', "rebooting in 10 seconds"]);
  });
});
