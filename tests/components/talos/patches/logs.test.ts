import { describe, expect, test } from "@jest/globals";
import { kernelLogsPatches } from "../../../../components/talos/patches/kernelLogs.ts";
import { serviceLogsPatches } from "../../../../components/talos/patches/serviceLogs.ts";
import { machineInput, talosVersions } from "../machineInput.ts";

describe.each(talosVersions)("Log shipping (S2.1) on Talos %s", (version) => {
  test("sends service logs as JSON lines and kernel logs when it is on", () => {
    const input = machineInput(version, { machine: { logShipping: { enabled: true } } });
    expect(serviceLogsPatches(input)).toStrictEqual([
      { machine: { logging: { destinations: [{ endpoint: "udp://127.0.0.1:6051", format: "json_lines" }] } } },
    ]);
    expect(kernelLogsPatches(input)).toStrictEqual([
      { apiVersion: "v1alpha1", kind: "KmsgLogConfig", name: "kernel-logs", url: "udp://127.0.0.1:6050" },
    ]);
  });

  test("writes nothing when it is off (S2.2)", () => {
    const input = machineInput(version);
    expect([...serviceLogsPatches(input), ...kernelLogsPatches(input)]).toStrictEqual([]);
  });
});
