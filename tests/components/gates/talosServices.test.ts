import { describe, expect, test } from "@jest/globals";
import type { NodeView } from "../../../components/gates/nodeView.ts";
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

describe("TalosServices gate (S3.2)", () => {
  test.each(["1.12.6 healthy", "1.13.8 healthy"])(
    "opens for %s, the dashboard without a health check included",
    (name) => {
      expect(said(look(name))).toStrictEqual([]);
    },
  );

  test("etcd that waits for bootstrap is named with its state", () => {
    expect(said(look("1.12.6 before bootstrap"))).toStrictEqual([
      "pending cp-1: etcd is Preparing (Running pre state)",
    ]);
  });

  test("a worker's kubelet that cannot start is named in its own words (S3.4)", () => {
    expect(said(look("1.13.8 with a kubelet that cannot start"))).toContain(
      'pending w-1: kubelet is Failed (failed to run pre stage: service "kubelet": failed to mount /var/mnt/data: no such file or directory)',
    );
  });

  test("a service that should be there and is not", () => {
    expect(said(withService(look("1.13.8 healthy"), "w-1", "kubelet", undefined))).toContain(
      "pending w-1: there is no service kubelet",
    );
  });

  test("a health check that fails, of any service", () => {
    const sick = withService(look("1.13.8 healthy"), "w-1", "udevd", { healthy: false, message: "no answer" });
    expect(said(sick)).toStrictEqual(["pending w-1: udevd is Running, not healthy (no answer)"]);
  });

  test("what is seen when it opens is the same at every healthy look", () => {
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
