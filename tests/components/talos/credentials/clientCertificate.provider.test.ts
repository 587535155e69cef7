import { describe, expect, test } from "@jest/globals";
import {
  type CertificateInputs,
  operations,
} from "../../../../components/talos/credentials/clientCertificate.provider.ts";

const inputs: CertificateInputs = {
  file: "talosconfig",
  ends: "2027-11-18T20:00:00.000Z",
  renewDays: 28,
  row: "the urn",
};
const noted: string[] = [];
const at = (moment: string) => ({
  now: () => Date.parse(moment),
  note: async (text: string) => void noted.push(text),
});
const made = { ...inputs, drift: [] };
const none = { kind: "none" };
const update = { kind: "update" };

describe("U3 the expiry of a client certificate", () => {
  test.each([
    ["2027-10-21T20:00:00Z", []],
    ["2027-10-21T20:00:01Z", ["its client certificate expires on 2027-11-18, in 27 days"]],
    ["2027-11-17T00:00:00Z", ["its client certificate expires on 2027-11-18, in 1 day"]],
    ["2027-11-18T20:00:01Z", ["its client certificate expired on 2027-11-18"]],
  ])("is drift when it is nearer than clientCertificateDays: at %s [C20]", async (now, drift) => {
    noted.length = 0;
    const seen = await operations.read(made, at(now));
    expect(seen).toEqual({ ...made, drift });
    expect(noted).toEqual(drift.map((one) => `talosconfig: ${one}`));
    expect(operations.difference(seen, inputs)).toEqual(drift.length > 0 ? update : none);
  });

  test("is no drift after the certificate was renewed", async () => {
    const near = await operations.read(made, at("2027-11-01T00:00:00Z"));
    const renewed = { ...inputs, ends: "2028-11-01T00:00:00.000Z" };
    expect(await operations.create(renewed, at("2027-11-01T00:00:00Z"))).toEqual({ ...renewed, drift: [] });
    expect(operations.difference({ ...near, drift: [] }, renewed)).toEqual(update);
  });

  test("is refused if the certificate was not renewed, with what to do [C20]", async () => {
    await expect(operations.create(inputs, at("2027-11-01T00:00:00Z"))).rejects.toThrow(
      /^SLU-T213 A client certificate was not renewed\n {2}where: +talosconfig\n/,
    );
  });

  test("is no drift without a certificate, and when the setting changes", async () => {
    const { ends: _, ...without } = inputs;
    expect(await operations.create(without, at("2026-11-18T20:00:00Z"))).toEqual({ ...without, drift: [] });
    expect(await operations.create(without, at("2099-01-01T00:00:00Z"))).toEqual({ ...without, drift: [] });
    expect(operations.difference(made, { ...inputs, renewDays: 7 })).toEqual(update);
    expect(operations.difference(made, { ...inputs, row: "another urn" })).toEqual(none);
  });
});
