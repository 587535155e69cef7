import { describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import { type ContractInputs, operations } from "../../../../components/talos/generate/configContract.provider.ts";

const of = (contract: string): ContractInputs => ({ contract, row: "the urn" });

describe("S8.1 the contract of a cluster's machine configs", () => {
  test("is kept in the state", async () => {
    expect(await operations.create(of("v1.13"))).toEqual(of("v1.13"));
    expect(operations.difference(of("v1.13"), { ...of("v1.13"), row: "another urn" })).toEqual({ kind: "none" });
    expect(operations.notes(of("v1.13"), of("v1.13"))).toEqual([]);
  });

  test("is announced when it changes, in either direction", () => {
    expect(operations.difference(of("v1.13"), of("v1.14"))).toEqual({ kind: "update" });
    const [note] = operations.notes(of("v1.13"), of("v1.14"));
    expect(note).toMatchObject({ as: "info" });
    expect(note?.text).toMatch(/changes from v1\.13 to v1\.14/);
    expect(operations.notes(of("v1.14"), of("v1.13"))).toHaveLength(1);
    expect(operations.notes(of("v1.14"), of(unknownValue))).toEqual([]);
  });
});
