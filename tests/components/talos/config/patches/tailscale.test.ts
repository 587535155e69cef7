import { describe, expect, test } from "@jest/globals";
import { tailscalePatches } from "../../../../../components/talos/config/patches/tailscale.ts";
import { redact } from "../../../../../components/talos/config/redact.ts";
import { nodePatches } from "../../../../../components/talos/generate/machineConfig.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const key = "tskey-auth-MARKER";
const config = (tailscale: object) => ({ tailscale, tailscaleAuthKey: key });
const patches = (version: string, values: Readonly<Record<string, unknown>>, name = "cp-1") => {
  const input = machineInput(version, values);
  return tailscalePatches(input, machineNode(input, name));
};
const document = { apiVersion: "v1alpha1", kind: "ExtensionServiceConfig", name: "tailscale" };
const plain = [`TS_AUTHKEY=${key}`, "TS_AUTH_ONCE=true", "TS_HOSTNAME=home-cp-1"];

describe.each(talosVersions)("Tailscale (S4.5) on Talos %s", (version) => {
  test("is absent if it is off (S2.2)", () => {
    expect(patches(version, {})).toStrictEqual([]);
  });

  test("joins every node with the key, under its own name", () => {
    expect(patches(version, config({ enabled: true }))).toStrictEqual([{ ...document, environment: plain }]);
    expect(patches(version, config({ enabled: true, hostname: "{node}" }), "w-1")).toStrictEqual([
      { ...document, environment: [...plain.slice(0, 2), "TS_HOSTNAME=w-1"] },
    ]);
  });

  test("has the Headscale server, the routes and extra arguments", () => {
    const tailscale = {
      enabled: true,
      loginServer: "https://headscale.example.org",
      routes: ["10.0.0.0/16", "10.96.0.0/12"],
      extraArgs: ["--accept-routes"],
    };
    expect(patches(version, config(tailscale))).toStrictEqual([
      {
        ...document,
        environment: [
          ...plain,
          "TS_ROUTES=10.0.0.0/16,10.96.0.0/12",
          "TS_EXTRA_ARGS=--login-server=https://headscale.example.org --accept-routes",
        ],
      },
    ]);
  });

  test("keeps the key secret", () => {
    const input = machineInput(version, config({ enabled: true }));
    const text = nodePatches(input, machineNode(input, "cp-1")).join("---\n");
    expect(text).toContain(key);
    expect(redact(text)).not.toContain("MARKER");
    expect(redact(text)).toContain("TS_AUTHKEY=<redacted>");
  });
});
