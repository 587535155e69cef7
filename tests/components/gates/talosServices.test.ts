import { describe, expect, test } from "@jest/globals";
import type { NodeView } from "../../../components/gates/talos/nodeView.ts";
import { talosServices } from "../../../components/gates/talosServices.ts";
import type { TalosService } from "../../../components/talos/client/talosClient.ts";
import { recordedLooks } from "./recordedLooks.ts";
import { verdicts } from "./verdicts.ts";

type Look = readonly NodeView<readonly TalosService[]>[];

const look = recordedLooks<Look>("talosServices");
const inputs = { nodes: [], credentials: { ca: "", crt: "", key: "" } };
const said = (observation: Look) => verdicts(talosServices, inputs, observation);

function withService(observation: Look, node: string, id: string, change: Partial<TalosService> | undefined): Look {
  return observation.map((view) => ({
    ...view,
    facts: (view.facts ?? []).flatMap((service) => {
      if (view.node.name !== node || service.id !== id) return [service];
      return change === undefined ? [] : [{ ...service, ...change }];
    }),
  }));
}

describe("S3.2 the gate TalosServices", () => {
  test.each(["1.12.6 healthy", "1.13.8 healthy"])(
    "opens for %s, including the dashboard without a health check",
    (name) => {
      expect(said(look(name))).toStrictEqual([]);
    },
  );

  test("names etcd that waits for bootstrap, with its state", () => {
    expect(said(look("1.12.6 before bootstrap"))).toStrictEqual([
      "pending cp-1: etcd is Preparing (Running pre state)",
    ]);
  });

  test("names a worker's kubelet that cannot start, in its own words (S3.4)", () => {
    expect(said(look("1.13.8 with a kubelet that cannot start"))).toContain(
      'pending w-1: kubelet is Failed (failed to run pre stage: service "kubelet": failed to mount /var/mnt/data: no such file or directory)',
    );
  });

  test("takes failed services of a node for a stall, and none that only starts (S5.5)", () => {
    const stalls = (observation: Look) =>
      talosServices
        .conditions(inputs)
        .flatMap(({ evaluate }) =>
          evaluate(observation).map((verdict) => (verdict.kind === "pending" ? verdict.stall : verdict.kind)),
        );
    expect(stalls(look("1.13.8 with a kubelet that cannot start"))).toContain("kubelet failed");
    expect(stalls(look("1.12.6 before bootstrap"))).toEqual([undefined]);
  });

  test("names a missing service", () => {
    expect(said(withService(look("1.13.8 healthy"), "w-1", "kubelet", undefined))).toContain(
      "pending w-1: there is no service kubelet",
    );
  });

  test("names any service whose health check fails", () => {
    const sick = withService(look("1.13.8 healthy"), "w-1", "udevd", { healthy: false, message: "no answer" });
    expect(said(sick)).toStrictEqual(["pending w-1: udevd is Running, not healthy (no answer)"]);
  });

  test("has the same evidence at every healthy observation", () => {
    const evidence = talosServices.evidence(look("1.13.8 healthy"), inputs);
    expect(
      talosServices.evidence(
        [...look("1.13.8 healthy")].map((view) => ({ ...view, tries: 7 })),
        inputs,
      ),
    ).toStrictEqual(evidence);
    expect(evidence).toMatchObject({ services: { "w-1": expect.stringMatching(/\bkubelet\b/) } });
  });
});

test("the evidence of TalosServices in a few words", () => {
  expect(talosServices.words({ services: { "cp-1": "etcd kubelet", "w-1": "kubelet" } })).toBe(
    "3 services healthy on 2 nodes",
  );
});
