import { describe, expect, test } from "@jest/globals";
import { readRunEvents } from "../../../scripts/resume/runEvents.ts";

const urn = "urn:pulumi:dev::sluice::sluice:machines:HetznerMachines$hcloud:index/server:Server::dev-cp-2";
const network = "urn:pulumi:dev::sluice::hcloud:index/network:Network::dev";
const log = (...events: readonly object[]) => events.map((event) => JSON.stringify(event)).join("\n");
const step = (op: string, of = network, planning = false) => ({ metadata: { op, urn: of }, planning });
const error = (message: string, of?: string) => ({
  diagnosticEvent: { urn: of, message, severity: "error", color: "raw" },
});

describe("S5.2 the events of a run", () => {
  test("have the resources that failed, without the engine's marks and its final error", () => {
    const text = log(
      { diagnosticEvent: { urn, message: "slow", severity: "warning" } },
      error("<{%reset%}>hcloud: server responded with status code 503<{%reset%}>\n", urn),
      error("update failed", "urn:pulumi:dev::sluice::pulumi:pulumi:Stack::sluice-dev"),
      error("no resource's"),
    );
    expect(readRunEvents(text).failed).toEqual([
      { type: "hcloud:index/server:Server", name: "dev-cp-2", reason: "hcloud: server responded with status code 503" },
    ]);
  });

  test("have what was completed: created or changed, not deleted, read, or unchanged", () => {
    const outputs = ["create", "same", "delete", "read", "update"].map((op) => ({
      resOutputsEvent: step(op, `${network}-${op}`),
    }));
    const text = log(...outputs, { resOpFailedEvent: step("create", urn) });
    expect(readRunEvents(text)).toMatchObject({
      completed: [`${network}-create`, `${network}-update`],
      isPreview: false,
    });
  });

  test("name the releases that failed: an operation of Helm was interrupted, or refused because an earlier one was", () => {
    const cilium = `${network.slice(0, network.indexOf("::hcloud"))}::kubernetes:helm.sh/v3:Release::dev-cilium`;
    const { metadata } = step("create", cilium);
    const inputs = { namespace: "kube-system", name: "cilium", version: "1.18.8", values: { ipam: "x" } };
    const started = { resourcePreEvent: { metadata: { ...metadata, new: { inputs } } } };
    const wanted = { version: "1.18.8", values: { ipam: "x" } };
    for (const reason of ["cannot re-use a name that is still in use", "error reading from server: EOF"]) {
      expect(readRunEvents(log(started, error(reason, cilium))).unfinished).toEqual([
        { namespace: "kube-system", name: "cilium", isInState: false, wanted },
      ]);
    }
    expect(readRunEvents(log(started, error("update failed", urn))).unfinished).toEqual([]);
    // What was created incompletely is in the state, so Helm upgrades it, and needs its record.
    for (const [status, isInState] of [
      [0, false],
      [1, true],
    ] as const) {
      const failed = { resOpFailedEvent: { metadata, status } };
      expect(readRunEvents(log(started, failed, error("unexpected EOF", cilium))).unfinished).toMatchObject([
        { name: "cilium", isInState },
      ]);
    }
  });

  test("are those of a preview, in which nothing was completed", () => {
    const text = log(
      { resourcePreEvent: step("create", network, true) },
      { resOutputsEvent: step("create", network, true) },
    );
    expect(readRunEvents(text)).toEqual({ failed: [], unfinished: [], completed: [], isPreview: true });
  });

  test.each(["", "\n", '{"resourcePreEvent":{"metadata":{"op"'])(
    "are none in an empty or incomplete log: '%s'",
    (text) => {
      expect(readRunEvents(text)).toEqual({ failed: [], unfinished: [], completed: [], isPreview: false });
    },
  );
});
