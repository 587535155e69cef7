import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { LiveEvent } from "../../../scripts/live/followEvents.ts";
import { RunView } from "../../../scripts/live/runView.ts";

const urn = (type: string, name: string) => `urn:pulumi:dev::sluice::${type}::${name}`;
const gate = urn("pulumi-nodejs:dynamic/gates:CiliumReady", "dev-cilium-ready");
const server = urn("sluice:machines:HetznerMachines$hcloud:index/server:Server", "dev-cp-1");
const component = urn("sluice:machines:HetznerMachines", "dev");
const release = urn("sluice:platform:Cilium$kubernetes:helm.sh/v3:Release", "dev-cilium-release");

const begins = (of: string, op = "create", planning = false): LiveEvent => ({
  resourcePreEvent: { metadata: { op, urn: of }, ...(planning && { planning }) },
});
const done = (of: string, op = "create"): LiveEvent => ({ resOutputsEvent: { metadata: { op, urn: of } } });
const failed = (of: string): LiveEvent => ({ resOpFailedEvent: { metadata: { op: "create", urn: of } } });
const says = (of: string, message: string): LiveEvent => ({ diagnosticEvent: { urn: of, message, severity: "info" } });
const previewed: LiveEvent = { summaryEvent: { isPreview: true } };

/** The lines at 80 columns, 20 s after what happened at these seconds. */
function lines(...happened: readonly (readonly [number, LiveEvent])[]): readonly string[] {
  const view = new RunView();
  for (const [seconds, event] of happened) view.apply([event], seconds * 1000);
  return view.lines(20_000, 80);
}

describe("what a run waits for, in three lines (S6.3)", () => {
  test("is a gate with its node and its reason, before everything else that is in progress", () => {
    expect(
      lines(
        [0, begins(component)],
        [1, begins(server)],
        [2, done(server)],
        [3, begins(release)],
        [8, begins(gate)],
        [9, says(gate, "<{%fg 2%}>cp-1: pod cilium-2n59p: PodInitializing<{%reset%}>\nmore")],
      ),
    ).toEqual(["1 done, 3 in progress, 20s", "CiliumReady, 12s: cp-1: pod cilium-2n59p: PodInitializing", ""]);
  });

  test("has a second line for what does not fit the first", () => {
    const text = `w-3: pod hcloud-cloud-controller-manager-84cfcdbb75-7xb5z: container manager: ${"x".repeat(90)}`;
    expect(lines([8, begins(gate)], [9, says(gate, text)]).slice(1)).toEqual([
      "CiliumReady, 12s: w-3: pod hcloud-cloud-controller-manager-84cfcdbb75-7xb5z:",
      `  container manager: ${"x".repeat(58)}…`,
    ]);
  });

  test("is what takes longest where no gate waits, and never a component", () => {
    expect(lines([0, begins(component)], [1, begins(server)], [3, begins(release, "update")])[1]).toBe(
      "creating Server dev-cp-1, 19s",
    );
  });

  test("is what has something to say before what takes longer", () => {
    expect(lines([1, begins(server)], [3, begins(release, "delete")], [4, says(release, "uninstalling")])[1]).toBe(
      "deleting Release dev-cilium-release, 17s: uninstalling",
    );
  });

  test("leaves out what is unchanged, the stack and providers, and what has failed", () => {
    const stack = urn("pulumi:pulumi:Stack", "sluice-dev");
    const provider = urn("pulumi:providers:hcloud", "dev-hetzner");
    expect(
      lines(
        [0, begins(stack)],
        [0, begins(provider)],
        [0, begins(release, "same")],
        [0, begins(server)],
        [1, failed(server)],
      ),
    ).toEqual(["0 done, 0 in progress, 20s", "", ""]);
  });

  test.each([20, 79, 80, 100, 250])("fits %i columns, whatever is reported", (width) => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1_000_000), (text, now) => {
        const view = new RunView();
        view.apply([begins(gate), says(gate, text)], 0);
        for (const line of view.lines(now, width)) {
          expect(line.length).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\n\r]/);
        }
      }),
    );
  });

  test("is shown for an update alone: not for a preview, not while its user is asked, and not after the end", () => {
    const view = new RunView();
    view.apply([begins(server, "create", true)], 0);
    expect(view.isUpdating).toBe(false);
    view.apply([previewed], 1_000);
    expect(view.isUpdating).toBe(false);
    view.answered(61_000);
    view.apply([begins(server)], 62_000);
    expect(view.isUpdating).toBe(true);
    view.apply([{ summaryEvent: {} }], 90_000);
    expect(view.isUpdating).toBe(false);
  });
});

describe("the time that a user takes to answer (S6.3)", () => {
  test("is from the end of the preview to the beginning of the update", () => {
    const view = new RunView();
    view.apply([begins(server, "create", true), previewed], 1_000);
    expect(view.asked(11_000)).toBe(10_000);
    view.answered(61_000);
    view.apply([begins(server)], 62_000);
    expect(view.asked(99_000)).toBe(60_000);
  });

  test("is none where nobody was asked", () => {
    const view = new RunView();
    view.apply([begins(server), done(server), { summaryEvent: {} }], 5_000);
    expect(view.asked(99_000)).toBe(0);
  });
});
