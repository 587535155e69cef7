import { describe, expect, test } from "@jest/globals";
import { resolversPatches } from "../../../../../components/talos/config/patches/resolvers.ts";
import { documentVersions, machineInput, talosVersions } from "../../machineInput.ts";

const nameservers = ["10.0.0.1", "9.9.9.9"];

describe("resolvers (S2.1)", () => {
  test.each(documentVersions)("are a document on Talos %s", (version) => {
    const document = { apiVersion: "v1alpha1", kind: "ResolverConfig" };
    const addresses = [{ address: "10.0.0.1" }, { address: "9.9.9.9" }];
    const disabled = { disableDefault: true };
    expect(resolversPatches(machineInput(version, { network: { nameservers } }))).toStrictEqual([
      { ...document, nameservers: addresses, searchDomains: disabled },
    ]);
    expect(resolversPatches(machineInput(version))).toStrictEqual([{ ...document, searchDomains: disabled }]);
    expect(
      resolversPatches(machineInput(version, { network: { nameservers, disableSearchDomain: false } })),
    ).toStrictEqual([{ ...document, nameservers: addresses }]);
  });

  test("are fields on Talos 1.11", () => {
    const patch = (network: object) => [{ machine: { network } }];
    expect(resolversPatches(machineInput("1.11.6", { network: { nameservers } }))).toStrictEqual(
      patch({ nameservers, disableSearchDomain: true }),
    );
    expect(resolversPatches(machineInput("1.11.6"))).toStrictEqual(patch({ disableSearchDomain: true }));
    expect(
      resolversPatches(machineInput("1.11.6", { network: { nameservers, disableSearchDomain: false } })),
    ).toStrictEqual(patch({ nameservers }));
  });

  test.each(talosVersions)("are absent on Talos %s if nothing is configured (S2.2)", (version) => {
    expect(resolversPatches(machineInput(version, { network: { disableSearchDomain: false } }))).toStrictEqual([]);
  });
});
