import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { classify, type ErrorContext } from "../../../../components/talos/client/classify.ts";

function error(code: status, details: string): Error {
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details });
}

const apply: ErrorContext = { call: "applyConfiguration" };
const bootstrap: ErrorContext = { call: "bootstrap" };
const noConnection = "No connection established. Last error: Error: ";

// Messages of nodes of 1.12 and 1.13 as talosctl and this client show them; those of the network are made up in the same form.
const errors: readonly (readonly [status, string, ErrorContext, string, "retryable" | "permanent"])[] = [
  [status.UNAVAILABLE, `${noConnection}connect ECONNREFUSED 198.51.100.5:50000`, {}, "SLU-T102", "retryable"],
  [status.UNAVAILABLE, `${noConnection}connect EHOSTUNREACH 198.51.100.5:50000`, {}, "SLU-T101", "retryable"],
  [status.UNAVAILABLE, `${noConnection}unable to verify the first certificate`, {}, "SLU-T103", "permanent"],
  [status.UNAVAILABLE, "x509: certificate signed by unknown authority", {}, "SLU-T103", "permanent"],
  [status.UNAVAILABLE, "x509: certificate is valid for 10.0.0.11, not cp.example.org", {}, "SLU-T111", "permanent"],
  [status.UNAVAILABLE, "x509: certificate has expired or is not yet valid", {}, "SLU-T112", "retryable"],
  [
    status.UNAVAILABLE,
    `${noConnection}Hostname/IP does not match certificate's altnames: IP: 10.0.0.9 is not in the cert's list: 10.0.0.11`,
    {},
    "SLU-T111",
    "permanent",
  ],
  [status.UNAVAILABLE, `${noConnection}certificate is not yet valid`, {}, "SLU-T112", "retryable"],
  [status.UNAVAILABLE, "tlsv13 alert certificate required", {}, "SLU-T104", "retryable"],
  [status.UNAVAILABLE, "read ECONNRESET", {}, "SLU-T107", "retryable"],
  [status.UNAVAILABLE, "Connection dropped", {}, "SLU-T107", "retryable"],
  [
    status.UNAVAILABLE,
    'connection error: desc = "transport: Error while dialing: dial unix /system/run/machined/machine.sock: connect: no such file or directory"',
    {},
    "SLU-T107",
    "retryable",
  ],
  [status.DEADLINE_EXCEEDED, "Deadline exceeded after 10.000s,Waiting for LB pick", {}, "SLU-T106", "retryable"],
  [status.UNKNOWN, "no controlplane endpoints discovered yet", {}, "SLU-T107", "retryable"],
  [status.UNKNOWN, "failed to parse config: config not found", apply, "SLU-T201", "permanent"],
  [status.INVALID_ARGUMENT, "configuration validation failed: 1 error occurred:", apply, "SLU-T201", "permanent"],
  [status.INVALID_ARGUMENT, "no such thing", {}, "SLU-T108", "permanent"],
  [status.FAILED_PRECONDITION, "another apply configuration is already in progress", apply, "SLU-T107", "retryable"],
  [status.ALREADY_EXISTS, "etcd data directory is not empty", bootstrap, "SLU-T203", "permanent"],
  [status.FAILED_PRECONDITION, "bootstrap is not available yet", bootstrap, "SLU-T204", "retryable"],
  [status.FAILED_PRECONDITION, "time is not in sync yet", bootstrap, "SLU-T204", "retryable"],
  [
    status.FAILED_PRECONDITION,
    "bootstrap can only be performed on a control plane node",
    bootstrap,
    "SLU-T205",
    "permanent",
  ],
  [status.UNIMPLEMENTED, "bootstrap is only available on control plane nodes", bootstrap, "SLU-T205", "permanent"],
  [status.UNIMPLEMENTED, "API is not implemented in maintenance mode", {}, "SLU-T110", "permanent"],
  [status.PERMISSION_DENIED, "not authorized", {}, "SLU-T105", "permanent"],
];

describe("an error of the Talos API (S2.6)", () => {
  test.each(errors)("%s %s", (code, details, context, expected, kind) => {
    expect(classify(error(code, details), context)).toStrictEqual({
      retryable: kind === "retryable",
      code: expected,
      seen: details,
    });
  });

  test("S1.7(2) for a disk selector without a match lists the existing disks", () => {
    const words = 'runtime configuration validation failed: no disks matched the expression: glob("NOPE", disk.model)';
    expect(
      classify(error(status.INVALID_ARGUMENT, words), { ...apply, disks: ["/dev/sda (80 GB)", "/dev/sdb (10 TB)"] }),
    ).toStrictEqual({
      retryable: false,
      code: "SLU-T202",
      seen: words,
      remedy: "Set the install disk to one that the node has: /dev/sda (80 GB); /dev/sdb (10 TB).",
    });
  });

  test("shows no secret that the validator quotes from a config", () => {
    const words =
      "error decoding document /v1alpha1/ (line 1): unknown keys found during decoding:\nmachine:\n    typo: 1\n    tokn:\n        token: abcdef.0123456789\n";
    const { seen } = classify(error(status.INVALID_ARGUMENT, words), apply);
    expect(seen).toContain("typo: 1");
    expect(seen).not.toContain("abcdef.0123456789");
  });

  test.each([
    ["ECONNREFUSED", "connect ECONNREFUSED 198.51.100.5:50000", "SLU-T102", "retryable"],
    ["EHOSTUNREACH", "connect EHOSTUNREACH 198.51.100.5:50000", "SLU-T101", "retryable"],
    ["ETIMEDOUT", "connect ETIMEDOUT 198.51.100.5:50000", "SLU-T101", "retryable"],
    ["ECONNRESET", "read ECONNRESET", "SLU-T107", "retryable"],
    ["EPIPE", "write EPIPE", "SLU-T107", "retryable"],
    ["EAI_AGAIN", "getaddrinfo EAI_AGAIN api.example.org", "SLU-T107", "retryable"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "tlsv13 alert certificate required", "SLU-T104", "retryable"],
    ["CERT_HAS_EXPIRED", "certificate has expired", "SLU-T112", "retryable"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match certificate's altnames", "SLU-T111", "permanent"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "SLU-T103", "permanent"],
    ["ERR_INVALID_ARG_TYPE", 'The "path" argument must be of type string', "SLU-T108", "permanent"],
    ["ERR_OSSL_UNSUPPORTED", "error:1E08010C:DECODER routines::unsupported", "SLU-T108", "permanent"],
    ["ENOENT", "no such file or directory, open 'talos.proto'", "SLU-T108", "permanent"],
    ["MODULE_NOT_FOUND", "Cannot find module", "SLU-T108", "permanent"],
  ])("with a text code is retryable only if it is the network's: %s", (code, message, expected, kind) => {
    expect(classify(Object.assign(new Error(message), { code }))).toStrictEqual({
      retryable: kind === "retryable",
      code: expected,
      seen: `${code}: ${message}`,
    });
  });

  test("is retryable if a signal ended the call", () => {
    expect(classify(new DOMException("too late", "TimeoutError"))).toMatchObject({ retryable: true, code: "SLU-T106" });
    expect(classify(new DOMException("ended", "AbortError"))).toMatchObject({ retryable: true, code: "SLU-T107" });
  });

  test("is not retryable if it is not the error of a call", () => {
    expect(classify(new TypeError("x is undefined"))).toStrictEqual({
      retryable: false,
      code: "SLU-T108",
      seen: "x is undefined",
    });
    expect(classify("odd")).toStrictEqual({ retryable: false, code: "SLU-T108", seen: "odd" });
  });
});
