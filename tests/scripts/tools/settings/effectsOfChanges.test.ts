// Compares what the schema documents about a changed setting with the prediction of reboots.
import { describe, expect, test } from "@jest/globals";
import { parse, parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import type { MachineConfigInput } from "../../../../components/talos/config/machineInput.ts";
import { rebootChanges } from "../../../../components/talos/config/rebootRules.ts";
import { machineConfigurationArgs } from "../../../../components/talos/generate/machineConfig.ts";
import { listSettings, type Setting } from "../../../../scripts/tools/settings/listSettings.ts";
import { machineInput, machineNode, talosVersions } from "../../../components/talos/machineInput.ts";

type Values = Readonly<Record<string, unknown>>;

/** The settings that determine machine configs. Those of platforms change machines, and the kubelet's image comes from the generator. */
const sections = ["nodes", "network", "tailscale", "install", "machine"];
const settings = listSettings(sections).filter(
  ({ key, platforms, documentation: { change }, schema }) =>
    (change === "no reboot" || change === "new installations only") &&
    !key.startsWith("nodes[].size") &&
    !(platforms?.length === 1) &&
    !(schema instanceof z.ZodObject),
);

/** Other settings without which a setting has no effect. */
const together: Readonly<Record<string, Values>> = {
  "network.gateway": { addressing: "meta" },
  "network.vipBy": { vip: "10.0.0.30" },
  "tailscale.loginServer": { enabled: true },
  "tailscale.hostname": { enabled: true },
  "tailscale.routes": { enabled: true },
  "tailscale.extraArgs": { enabled: true },
  "machine.logShipping.services": { logShipping: { enabled: true } },
  "machine.logShipping.kernel": { logShipping: { enabled: true } },
};
/** Valid values other than the default, if type and example do not provide one. */
const others: Readonly<Record<string, unknown>> = parse(`
  network.gateway: 10.0.0.254
  network.addressing: meta
  tailscale.routes: [10.0.0.0/16]
  tailscale.hostname: "{node}"
  machine.kubelet.featureGates: { ImageVolume: false, Other: true }
  machine.apiServer.featureGates: { Other: true }
  machine.logShipping.services: udp://10.0.0.9:6051
  machine.logShipping.kernel: udp://10.0.0.9:6050
  install.extraKernelArgs: [quiet]
  install.grubUseUKICmdline: false
  machine.ciliumHostDNS: false
`);
const nodeNames = ["cp-1", "w-1"];

describe.each(talosVersions)("on Talos %s", (talosVersion) => {
  const known = settings.filter(({ key }) => key !== "install.grubUseUKICmdline" || talosVersion !== "1.11.6");

  test.each(known)(
    "a change of $key changes a machine config and reboots no node, as its documentation says",
    (setting) => {
      const was = nodeNames.map(configs(talosVersion, setting, undefined));
      const is = nodeNames.map(configs(talosVersion, setting, otherValue(setting)));
      expect(is).not.toEqual(was);
      expect(was.map((config, index) => rebootChanges(config, is[index] ?? ""))).toEqual([[], []]);
    },
  );
});

/** The machine config of each node, with a setting at a value; undefined leaves the setting out. */
function configs(talosVersion: string, { key }: Setting, value: unknown): (node: string) => string {
  const [section = "", ...path] = key.split(".");
  const nodes = ["cp-1", "cp-2", "cp-3", "w-1"].map((name, index) => ({
    ...{
      name,
      role: index < 3 ? "controlplane" : "worker",
      address: `10.0.0.${11 + index}`,
      mac: `02:00:00:00:00:0${index}`,
    },
    ...(section === "nodes[]" && value !== undefined && at(path, value)),
  }));
  const changed = value === undefined || section === "nodes[]" ? {} : at(path, value);
  const config = { nodes, [section]: merged(together[key] ?? {}, changed) };
  const input = machineInput(talosVersion, section === "nodes[]" ? { nodes } : config);
  return (node) => machineConfig(input, node);
}

/** Merges like Talos: maps key by key, lists by appending. */
function merged(values: Values, over: Values): Values {
  const entries = Object.entries(over).map(([key, value]): [string, unknown] => {
    const below = values[key];
    if (Array.isArray(below) && Array.isArray(value)) return [key, [...below, ...value]];
    return [key, isMap(below) && isMap(value) ? merged(below, value) : value];
  });
  return { ...values, ...Object.fromEntries(entries) };
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at([key = "", ...rest]: readonly string[], value: unknown): Values {
  return { [key]: rest.length === 0 ? value : at(rest, value) };
}

/** The node's patches, merged over the blocks that the generator always writes. */
function machineConfig(input: MachineConfigInput, name: string): string {
  const { configPatches, machineType } = machineConfigurationArgs(input, machineNode(input, name));
  const base: Values = {
    version: "v1alpha1",
    machine: { type: machineType, kubelet: {}, network: {}, install: {}, features: { rbac: true } },
    cluster: { controlPlane: { endpoint: input.endpoint }, network: {}, apiServer: {} },
  };
  const bodies = configPatches.flatMap((text) => parseAllDocuments(text).map((document): Values => document.toJS()));
  const main = bodies.filter(({ kind }) => kind === undefined).reduce<Values>(merged, base);
  return [main, ...bodies.filter(({ kind }) => kind !== undefined)].map((body) => stringify(body)).join("---\n");
}

/** A valid value other than the default. */
function otherValue({ key, schema, default: unset, documentation: { example } }: Setting): unknown {
  if (others[key] !== undefined) return others[key];
  if (example !== undefined) return example;
  if (schema instanceof z.ZodBoolean) return typeof unset !== "object" || unset.value !== true;
  if (schema instanceof z.ZodEnum)
    return schema.options.find((option) => typeof unset !== "object" || option !== unset.value);
  throw new Error(`no other value of ${key} is known`);
}
