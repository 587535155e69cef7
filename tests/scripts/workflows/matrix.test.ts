import { describe, expect, test } from "@jest/globals";
import { driftMatrix, previewMatrix } from "../../../scripts/workflows/matrix.ts";

const plain = { name: "home", settings: "config:\n  sluice:clusterName: home\n" };
const encrypted = { name: "prod", settings: "encryptionsalt: v1:abc\nconfig: {}\n" };
const byKeyService = { name: "office", settings: "secretsprovider: awskms://alias/sluice\nconfig: {}\n" };
const all = [plain, encrypted, byKeyService];

describe("U2 previews run", () => {
  test("for every environment if backend and passphrase are set", () => {
    const given = { PULUMI_BACKEND_URL: "s3://state", PULUMI_CONFIG_PASSPHRASE: "x" };
    expect(previewMatrix(all, given)).toEqual({ environments: ["home", "prod", "office"], notices: [] });
  });

  test("for those without encrypted values if no secret is set, as for a fork, and the run lists the others", () => {
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

describe("U3 drift is checked", () => {
  test("in every environment if there is a backend", () => {
    expect(driftMatrix(all, { PULUMI_BACKEND_URL: "s3://state" }).environments).toEqual(["home", "prod", "office"]);
  });

  test("nowhere without a backend, and the run prints how to set one", () => {
    const { environments, notices } = driftMatrix(all, { PULUMI_BACKEND_URL: "" });
    expect(environments).toEqual([]);
    expect(notices).toEqual([expect.stringContaining("no secret PULUMI_BACKEND_URL")]);
  });
});
