import { describe, expect, test } from "@jest/globals";
import { kernelLogsPatches } from "../../../../../components/talos/config/patches/kernelLogs.ts";
import { serviceLogsPatches } from "../../../../../components/talos/config/patches/serviceLogs.ts";
import { machineInput, talosVersions } from "../../machineInput.ts";

describe.each(talosVersions)("log shipping (S2.1) on Talos %s", (version) => {
  test("sends service logs as JSON lines and kernel logs if it is on", () => {
    const input = machineInput(version, { machine: { logShipping: { enabled: true } } });
    expect(serviceLogsPatches(input)).toStrictEqual([
      { machine: { logging: { destinations: [{ endpoint: "udp://127.0.0.1:6051", format: "json_lines" }] } } },
    ]);
    expect(kernelLogsPatches(input)).toStrictEqual([
      { apiVersion: "v1alpha1", kind: "KmsgLogConfig", name: "kernel-logs", url: "udp://127.0.0.1:6050" },
    ]);
  });

  test("is absent if it is off (S2.2)", () => {
    const input = machineInput(version);
    expect([...serviceLogsPatches(input), ...kernelLogsPatches(input)]).toStrictEqual([]);
  });
});
