import { describe, expect, test } from "@jest/globals";
import { type CertificateInputs, operations } from "../../../components/talos/checkCertificate.ts";

const inputs: CertificateInputs = {
  file: "talosconfig",
  ends: "2027-11-18T20:00:00.000Z",
  renewDays: 28,
  row: "the urn",
};
const at = (moment: string) => Date.parse(moment);
const made = operations.proven(inputs, at("2026-11-18T20:00:00Z"));

describe("U3 the end of a client's certificate", () => {
  test.each([
    ["2027-10-21T20:00:00Z", []],
    ["2027-10-21T20:00:01Z", ["its client's certificate ends on 2027-11-18, in 27 days"]],
    ["2027-11-17T00:00:00Z", ["its client's certificate ends on 2027-11-18, in 1 day"]],
    ["2027-11-18T20:00:01Z", ["its client's certificate ended on 2027-11-18"]],
  ])("is drift when it is nearer than the environment allows: at %s", (now, drift) => {
    const seen = operations.read(made, at(now));
    expect(seen).toEqual({ ...made, drift });
    expect(operations.diff(seen, inputs)).toEqual({ changes: drift.length > 0 });
  });

  test("is none again when another certificate is there", () => {
    const near = operations.read(made, at("2027-11-01T00:00:00Z"));
    const renewed = { ...inputs, ends: "2028-11-01T00:00:00.000Z" };
    expect(operations.proven(renewed, at("2027-11-01T00:00:00Z"))).toEqual({ ...renewed, drift: [] });
    expect(operations.diff({ ...near, drift: [] }, renewed)).toEqual({ changes: true });
  });

  test("is refused when no other came, with what to do", () => {
    expect(() => operations.proven(inputs, at("2027-11-01T00:00:00Z"))).toThrow(
      /^SLU-T213 A client's certificate was not made anew\n {2}where: +talosconfig\n/,
    );
  });

  test("is none where there is no certificate, and where the environment changes its mind", () => {
    const { ends: _, ...without } = inputs;
    expect(operations.proven(without, at("2099-01-01T00:00:00Z")).drift).toEqual([]);
    expect(operations.diff(made, { ...inputs, renewDays: 7 })).toEqual({ changes: true });
    expect(operations.diff(made, { ...inputs, row: "another urn" })).toEqual({ changes: false });
  });
});
