import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import {
  contractFaults,
  firstContract,
  isAtLeast,
  isContractAtLeast,
  newContract,
  talosContract,
  versionFaults,
  versionTable,
} from "../../../../components/talos/config/versions.ts";

describe("versions", () => {
  test.each([
    ["1.11.2", "1.31.0"],
    ["1.14.1", "1.37.1"],
    ["1.11.6", "1.34.9"],
    ["1.12.6", "1.35.4"],
    ["v1.13.8", "v1.36.0"],
    ["1.13.99", "1.32.99"],
    ["1.12.0-beta.1", "1.35.0-rc.0"],
  ])("of Talos %s and Kubernetes %s are accepted", (talos, kubernetes) => {
    expect(versionFaults(talos, kubernetes)).toStrictEqual([]);
  });

  test.each([
    ["1.11.6", "1.35.0", "1.31 to 1.34, or talosVersion to a release of 1.12 to 1.14"],
    ["1.12.6", "1.36.1", "1.31 to 1.35, or talosVersion to a release of 1.13 to 1.14"],
    ["1.13.8", "1.30.4", "1.31 to 1.36"],
    ["1.13.8", "1.37.0", "1.31 to 1.36, or talosVersion to a release of 1.14"],
    ["1.14.1", "1.31.9", "1.32 to 1.37, or talosVersion to a release of 1.11 to 1.13"],
    ["1.14.1", "1.38.0", "1.32 to 1.37"],
  ])("of Talos %s and Kubernetes %s are refused with what to set instead", (talos, kubernetes, releases) => {
    expect(versionFaults(talos, kubernetes)).toStrictEqual([
      {
        path: "kubernetesVersion",
        message: `Talos ${talos} does not run Kubernetes ${kubernetes}: set kubernetesVersion to a release of ${releases}`,
      },
    ]);
  });

  test.each(["1.10.7", "1.15.0"])("of Talos %s are refused with any Kubernetes version", (talos) => {
    expect(versionFaults(talos, "1.99.0")).toStrictEqual([
      {
        path: "talosVersion",
        message: `Talos ${talos} is not supported: set talosVersion to a release of 1.11 to 1.14`,
      },
    ]);
  });

  test("are refused for both if they are no versions", () => {
    expect(versionFaults("1.12", "latest")).toStrictEqual([
      {
        path: "talosVersion",
        message: "'1.12' is not a version of Talos: it must be a full version of major 1, such as 1.12.6",
      },
      {
        path: "kubernetesVersion",
        message: "'latest' is not a version of Kubernetes: it must be a full version of major 1, such as 1.35.4",
      },
    ]);
  });

  test("are compared by isAtLeast with minor versions as numbers", () => {
    expect([
      isAtLeast("1.12.0", 12),
      isAtLeast("v1.13.8", 12),
      isAtLeast("1.11.6", 12),
      isAtLeast("1.9.0", 12),
    ]).toStrictEqual([true, true, false, false]);
    expect(() => isAtLeast("12", 12)).toThrow("'12' is not a version of Talos");
  });

  test("have a contract that is the minor version with a leading v", () => {
    expect([talosContract("1.12.6"), talosContract("v1.13.0-alpha.1")]).toStrictEqual(["v1.12", "v1.13"]);
    // The newest that configs are generated for.
    expect(talosContract("1.14.1")).toBe("v1.13");
    expect(() => talosContract("newest")).toThrow("'newest' is not a version of Talos");
  });

  test("S8.1 have a contract in the state of their first Talos, and keep it with a later one", () => {
    expect(firstContract("v1.12", "1.13.8")).toBe("v1.12");
    expect(firstContract("v1.13", "1.13.8")).toBe("v1.13");
  });

  test.each([[undefined], [""], ["v1.3"], ["v1.14"], ["nonsense"]])(
    "S8.1 of machine secrets that name no usable contract (%s) have that of Talos",
    (madeWith) => {
      expect(firstContract(madeWith, "1.13.8")).toBe("v1.13");
    },
  );

  test("S8.1 of a new cluster have the contract that the environment asks for, else that of Talos", () => {
    expect(newContract({ talosVersion: "1.13.8", configContract: "v1.12" })).toBe("v1.12");
    expect(newContract({ talosVersion: "1.13.8" })).toBe("v1.13");
  });

  test.each([
    ["v1.13", "1.12.6", "v1.11 to v1.12"],
    ["v1.10", "1.11.6", "v1.11"],
    ["v2.1", "1.13.8", "v1.11 to v1.13"],
    ["v1.14", "1.14.1", "v1.11 to v1.13"],
  ])("S8.1 with contract %s are refused for Talos %s, with what to set instead", (contract, talos, instead) => {
    expect(contractFaults(contract, talos)).toStrictEqual([
      {
        path: "configContract",
        message: `Talos ${talos} does not take machine configs of contract ${contract}: set configContract to ${instead}`,
      },
    ]);
  });

  test("S8.1 with the contract of the same or an earlier Talos are accepted", () => {
    expect(["v1.11", "v1.12", "v1.13"].flatMap((contract) => contractFaults(contract, "1.13.8"))).toEqual([]);
    expect([isContractAtLeast("v1.12", 12), isContractAtLeast("v1.9", 12)]).toEqual([true, false]);
    expect(() => isContractAtLeast("1.12", 12)).toThrow("'1.12' is not a config contract");
  });

  test("are in docs/versions.md with the table of the code", () => {
    expect(readFileSync("docs/versions.md", "utf8")).toContain(`\n${versionTable()}\n`);
  });
});
