import { describe, expect, test } from "@jest/globals";
import type { CreatedResource } from "../../../components/lifecycle/createdResource.ts";
import type { Ended } from "../../../scripts/base/run.ts";
import { adopt } from "../../../scripts/orphans/adoption.ts";
import { interruptedReleases } from "../../../scripts/orphans/settleOrphans.ts";

const component = "sluice:machines:CloudMachines";
const parent = { type: component, urn: `urn:pulumi:dev::sluice::${component}::dev`, created: "2026-11-19T09:59:00Z" };
const provider = { type: "pulumi:providers:cloud", urn: "urn:pulumi:dev::sluice::pulumi:providers:cloud::c", id: "p" };
const orphan: CreatedResource = {
  type: "cloud:index:Network",
  part: "network",
  id: "1",
  title: "network dev (id 1)",
  created: "2026-11-19T10:00:00Z",
  isRoot: true,
  isUsed: false,
  within: [],
  removal: "delete 1",
};
const urn = `urn:pulumi:dev::sluice::${component}$cloud:index:Network::dev-network`;
const operation = (type: string) => ({ type: "creating", resource: { type, urn: `urn:${type}` } });

/** The calls of the CLI, which holds a state; `fails` is the first word of the call that fails. */
function engine(deployment: object, fails?: string) {
  const calls: string[] = [];
  let state: unknown = { version: 3, deployment };
  const call = async (args: readonly string[], input?: string): Promise<Ended> => {
    calls.push(args.join(" "));
    if (args[1] === "import") state = JSON.parse(input ?? "");
    const stdout = args[1] === "export" ? JSON.stringify(state) : "";
    return args.includes(fails ?? "") ? { code: 1, stdout, stderr: "no" } : { code: 0, stdout, stderr: "" };
  };
  return { call, calls, state: () => (state as { deployment: Record<string, unknown> }).deployment };
}

describe("adopting orphans (S5.3)", () => {
  test("writes them into the state and lets the engine read only them", async () => {
    const { call, calls, state } = engine({ resources: [parent, provider] });
    const { orphans, failure } = await adopt({ component, resources: [orphan], blockers: [] }, { call });
    expect(orphans.adopted.map(({ entry }) => entry.urn)).toEqual([urn]);
    expect(failure).toBeUndefined();
    expect(calls).toEqual([
      "stack export",
      "stack import",
      `refresh --yes --skip-preview --suppress-outputs --color never --target ${urn}`,
    ]);
    expect(state().resources).toMatchObject([parent, provider, { urn, id: "1" }]);
  });

  test("leaves the state unchanged if the engine cannot read them", async () => {
    const { call, state } = engine({ resources: [parent, provider] }, "refresh");
    expect(await adopt({ component, resources: [orphan], blockers: [] }, { call })).toMatchObject({ failure: "no" });
    expect(state().resources).toEqual([parent, provider]);
  });

  test("changes nothing if there is nothing to adopt", async () => {
    const { call, calls } = engine({ resources: [parent, provider] });
    await adopt({ component, resources: [], blockers: [] }, { call });
    expect(calls).toEqual(["stack export"]);
  });

  test("removes creations that a killed run had started, of which the engine would warn in every run, and keeps all others", async () => {
    const settled = [operation("cloud:index:Network"), operation("kubernetes:helm.sh/v3:Release")];
    const open = [{ ...operation("x"), type: "deleting" }];
    const { call, state } = engine({ resources: [parent, provider], pending_operations: [...settled, ...open] });
    await adopt({ component, resources: [], blockers: [] }, { call });
    expect(state().pending_operations).toEqual(open);
  });
});

test("S5.3 the releases that a killed run had started to install or to change are those that Helm's records are settled for", () => {
  const release = (type: string, name: string) => ({
    type,
    resource: {
      type: "kubernetes:helm.sh/v3:Release",
      inputs: { namespace: "kube-system", name, version: "1.0.0", values: { a: 1 } },
    },
  });
  const pending = [release("creating", "cilium"), release("updating", "csi"), operation("cloud:index:Network")];
  const wanted = { version: "1.0.0", values: { a: 1 } };
  expect(interruptedReleases({ resources: [], pending })).toEqual([
    { namespace: "kube-system", name: "cilium", isInState: false, wanted },
    { namespace: "kube-system", name: "csi", isInState: true, wanted },
  ]);
});
