import { describe, expect, test } from "@jest/globals";
import { driftMatrix, previewMatrix } from "../../../scripts/workflows/matrix.ts";

const plain = { name: "home", settings: "config:\n  sluice:clusterName: home\n" };
const encrypted = { name: "prod", settings: "encryptionsalt: v1:abc\nconfig: {}\n" };
const byKeyService = { name: "office", settings: "secretsprovider: awskms://alias/sluice\nconfig: {}\n" };
const all = [plain, encrypted, byKeyService];

describe("U2 previews are made", () => {
  test("of every environment where backend and passphrase are given", () => {
    const given = { PULUMI_BACKEND_URL: "s3://state", PULUMI_CONFIG_PASSPHRASE: "x" };
    expect(previewMatrix(all, given)).toEqual({ environments: ["home", "prod", "office"], notices: [] });
  });

  test("of those that anyone can read where no secret is given, as for a fork, and the run says which not", () => {
    // A secret that is not set is an empty variable in a workflow.
    const none = { PULUMI_BACKEND_URL: "", PULUMI_CONFIG_PASSPHRASE: "" };
    const { environments, notices } = previewMatrix(all, none);
    expect(environments).toEqual(["home"]);
    expect(notices).toEqual([
      "prod is not previewed: it has encrypted values, and this run has no key (docs/operations.md).",
      "office is not previewed: it has encrypted values, and this run has no key (docs/operations.md).",
    ]);
  });
});

describe("U3 drift is looked for", () => {
  test("in every environment where there is a backend", () => {
    expect(driftMatrix(all, { PULUMI_BACKEND_URL: "s3://state" }).environments).toEqual(["home", "prod", "office"]);
  });

  test("nowhere without a backend, and the run says how to have one", () => {
    const { environments, notices } = driftMatrix(all, { PULUMI_BACKEND_URL: "" });
    expect(environments).toEqual([]);
    expect(notices).toEqual([expect.stringContaining("no secret PULUMI_BACKEND_URL")]);
  });
});
