import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { configSummary } from "../../../../components/talos/config/configSummary.ts";

const config = (machine: object) => stringify({ version: "v1alpha1", machine });

describe("the summary of a node's config in a preview (U2)", () => {
  test("has each change in a line, secrets masked, and that the node does not reboot [C14]", () => {
    const before = config({ token: "MARKER1", sysctls: { "net.ipv4.ip_forward": "0" }, certSANs: ["a"] });
    const after = config({ token: "MARKER1", sysctls: { "net.ipv4.ip_forward": "1" }, time: { servers: ["t"] } });
    expect(configSummary("w-1", before, after)).toBe(
      [
        "w-1: 3 changes of the machine config, without a reboot",
        '  ~ machine.sysctls."net.ipv4.ip_forward": 0 -> 1',
        '  - machine.certSANs: ["a"]',
        '  + machine.time.servers: ["t"]',
      ].join("\n"),
    );
  });

  test("marks what makes the node reboot [C31]", () => {
    expect(configSummary("cp-1", config({ token: "MARKER1", debug: 1 }), config({ token: "MARKER2", debug: 1 }))).toBe(
      ["cp-1: 1 change of the machine config, cp-1 REBOOTS", "  ~ machine.token: <redacted> (changed)  [reboot]"].join(
        "\n",
      ),
    );
  });

  test("ends after forty lines", () => {
    const many = Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`k${index}`, "1"]));
    const lines = configSummary("w-1", config({ sysctls: { x: "0" } }), config({ sysctls: { x: "0", ...many } })).split(
      "\n",
    );
    expect(lines).toHaveLength(42);
    expect(lines.at(-1)).toBe("  and 5 more");
  });

  test("shows nothing of a config that cannot be read", () => {
    const summary = configSummary("w-1", "machine: {token: MARKER", config({}));
    expect(summary).toBe("w-1: the machine config changes; it cannot be read, so nothing of it is shown");
  });

  test("reports when only the formatting differs", () => {
    expect(configSummary("w-1", config({}), config({ certSANs: [] }))).toBe(
      "w-1: the machine config means the same as before",
    );
  });
});
