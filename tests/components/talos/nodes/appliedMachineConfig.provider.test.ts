import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import {
  type AppliedMachineConfigInputs,
  type AppliedMachineConfigState,
  operations,
} from "../../../../components/talos/nodes/appliedMachineConfig.provider.ts";
import { standardRetry } from "../../../../components/waiting/retry.ts";
import {
  config,
  credentials,
  everythingSaid,
  type FakeNode,
  FakeWorld,
  failure,
  refusal,
  unavailable,
} from "../fakeNodes.ts";

const inputs: AppliedMachineConfigInputs = {
  node: "w-1",
  role: "worker",
  talosAddress: "w-1",
  address: "w-1",
  peers: [],
  machineConfiguration: config({ sysctls: { a: "1" } }),
  contract: "v1.13",
  credentials,
  identity: {},
  machineId: "machine 1",
  retry: standardRetry,
  deadlineSeconds: 300,
  row: "the urn",
};

/** The state after an update, and its context. */
const made = () => madeBy(inputs.machineConfiguration);

/** A config that would install what the node runs. */
const installing = config({ install: { image: `factory.example.org/metal-installer/${"a".repeat(64)}:v1.13.8` } });

async function madeBy(machineConfiguration: string): Promise<{ context: FakeWorld; state: AppliedMachineConfigState }> {
  const context = new FakeWorld();
  context.add("w-1").schematic = "a".repeat(64);
  const state = await operations.create({ ...inputs, machineConfiguration }, context);
  context.noted.length = 0;
  return { context, state };
}

describe("the creation of a node's configuration", () => {
  test("U3 keeps the node's observed state, and a hash of its config", async () => {
    const { state } = await made();
    expect(operations.id(inputs)).toBe("w-1");
    expect(state).toEqual({
      ...inputs,
      version: "1.13.8",
      schematic: "a".repeat(64),
      stage: "running",
      configHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      joins: 0,
      state: "ours",
      attempts: 1,
      drift: [],
    });
  });

  test("S1.5 reports after the run that it took more than one attempt", async () => {
    const context = new FakeWorld();
    context.add("w-1").fail("apply", () => {
      throw unavailable();
    });
    await operations.create(inputs, context);
    expect(context.noted).toEqual(["w-1 runs its config after 2 attempts"]);
  });
});

describe("the adoption of a node that runs a config (S7.2)", () => {
  const adopting = (change: (node: FakeNode) => void) => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(inputs.machineConfiguration);
    change(node);
    return { context, node, adopted: operations.create({ ...inputs, adopts: true }, context) };
  };

  test("writes nothing, and leaves nothing to do if that is the wanted one", async () => {
    const { node, adopted } = adopting(() => undefined);
    const state = await adopted;
    expect(node.calls).toEqual([]);
    expect(state).toMatchObject({ state: "ours", joins: 0, drift: [], stage: "running", attempts: 1 });
    expect(state).not.toHaveProperty("adopts");
    expect(operations.difference(state, inputs)).toEqual({ kind: "none" });
  });

  test("records another config, which the next update shows and sends", async () => {
    const { context, node, adopted } = adopting((one) => void one.runs(config({ sysctls: { a: "2" } })));
    const state = await adopted;
    expect(node.calls).toEqual([]);
    expect(operations.difference(state, inputs)).toEqual({ kind: "update" });
    expect(operations.notes(state, inputs).map(({ text }) => text)).toEqual([
      "w-1: 1 change of the machine config, without a reboot\n  ~ machine.sysctls.a: 2 -> 1",
    ]);
    await operations.update(state, inputs, context);
    expect(node.calls).toEqual(["apply NO_REBOOT"]);
  });

  test("is repeated without a write after it was interrupted, also if the node has another config by then", async () => {
    const { context, node, adopted } = adopting(() => undefined);
    const state = await adopted;
    node.runs(config({ sysctls: { a: "2" } }));
    const again = await operations.update(state, { ...inputs, adopts: true }, context);
    expect(node.calls).toEqual([]);
    expect(again.drift).toHaveLength(1);
  });

  test.each<[string, (node: FakeNode) => void, string]>([
    [
      "in maintenance",
      (node) => void Object.assign(node, { kind: "maintenance" }),
      "it is in maintenance, without a config",
    ],
    ["of another cluster", (node) => void Object.assign(node, { kind: "foreign" }), "its certificate is of others"],
    ["that does not answer", (node) => void Object.assign(node, { kind: "unreachable" }), "no answer"],
    [
      "of the other role",
      (node) => void node.runs(config({}, "controlplane")),
      "it runs as controlplane, but should be worker",
    ],
  ])("is refused for a node %s, without a write", async (_, change, seen) => {
    const { node, adopted } = adopting(change);
    expect(await failure(adopted)).toMatch(
      new RegExp(`^SLU-A101 .*\n +where: +w-1\n +expected: .*\n +seen: +${seen}\n`),
    );
    expect(node.calls).toEqual([]);
  });

  test("is refused for another machine than the listed one", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(inputs.machineConfiguration);
    const other = { ...inputs, identity: { uuid: "another" }, adopts: true } as const;
    expect(await failure(operations.create(other, context))).toContain("its machine UUID is the-uuid, not another");
    expect(node.calls).toEqual([]);
  });
});

describe("the difference that a preview shows (U2)", () => {
  const diff = async (olds: Partial<AppliedMachineConfigState>, news: Partial<AppliedMachineConfigInputs>) => {
    const { context, state } = await made();
    const nodes = context.nodes.get("w-1");
    const calls = nodes?.calls.length;
    const sides = [
      { ...state, ...olds },
      { ...inputs, ...news },
    ] as const;
    const difference = operations.difference(...sides);
    const noted = operations.notes(...sides).map(({ text }) => text);
    expect(nodes?.calls).toHaveLength(calls ?? -1);
    return { ...difference, noted };
  };

  test("is none when nothing changed, nor when only the formatting did", async () => {
    expect(await diff({}, {})).toEqual({ kind: "none", noted: [] });
    const rewritten = `# regenerated\n${inputs.machineConfiguration}`;
    expect((await diff({}, { machineConfiguration: rewritten })).kind).toBe("none");
  });

  test("is shown for each node, secrets masked, with whether it reboots [C14]", async () => {
    const machineConfiguration = config({ sysctls: { a: "1" }, env: { PASSWORD: "MARKER" } });
    expect(await diff({}, { machineConfiguration })).toEqual({
      kind: "update",
      noted: ["w-1: 1 change of the machine config, w-1 REBOOTS\n  + machine.env.PASSWORD: <redacted>  [reboot]"],
    });
  });

  test("is unknown while the config is", async () => {
    expect(await diff({}, { machineConfiguration: unknownValue })).toEqual({
      kind: "update",
      noted: [],
    });
  });

  test("is a new resource if the machine is another one [C13]", async () => {
    expect(await diff({}, { machineId: "machine 2" })).toEqual({ kind: "replace", keys: ["machineId"], noted: [] });
  });

  test.each([
    ["the address", { talosAddress: "w-2" }],
    ["the client's certificate", { credentials: { ...credentials, crt: "another" } }],
    ["the identity", { identity: { mac: "02:00:00:00:00:01" } }],
  ])("is an update for %s, so that a refresh reads the right node", async (_what, changed) => {
    expect(await diff({}, changed)).toEqual({ kind: "update", noted: [] });
  });

  test("is none for another retry policy or deadline", async () => {
    expect((await diff({}, { deadlineSeconds: 1, retry: { ...standardRetry, retries: 0 } })).kind).toBe("none");
  });

  test("S1.6 is an update when the node is in maintenance as the run begins, whatever the state says", async () => {
    expect(await diff({}, { lostConfigIn: "this run" })).toEqual({
      kind: "update",
      noted: ["w-1 is in maintenance, without its config: it is sent again"],
    });
    expect((await diff({ lostConfigIn: "a run before" }, { lostConfigIn: "this run" })).kind).toBe("update");
  });

  test("S1.6 is none in a refresh and in the runs after the config was sent again", async () => {
    expect(await diff({ lostConfigIn: "a run" }, { lostConfigIn: "a run" })).toEqual({ kind: "none", noted: [] });
    expect(await diff({ lostConfigIn: "a run" }, {})).toEqual({ kind: "none", noted: [] });
  });

  test("U3 is an update when a refresh found the node without its config", async () => {
    expect((await diff({ drift: ["is in maintenance, without a config"] }, {})).kind).toBe("update");
  });
});

describe("S8.1 the contract of a node's config", () => {
  /** As an earlier version has written it. */
  const unrecorded = async () => {
    const { state } = await madeBy(installing);
    const { contract: _, ...rest } = state;
    return rest as AppliedMachineConfigState;
  };

  test("is recorded without asking the node where the state has none", async () => {
    const news = { ...inputs, machineConfiguration: installing };
    expect(operations.refusal(await unrecorded(), news)).toBeUndefined();
    expect(operations.difference(await unrecorded(), news)).toEqual({ kind: "record" });
  });

  test("is not changed silently where the state has none: the message names the one to set", async () => {
    const refused = operations.refusal(await unrecorded(), { ...inputs, contract: "v1.12" });
    expect(refused).toMatchObject({ code: "SLU-T241" });
    expect(refused?.message).toContain("Set `configContract: v1.13` and run");
  });

  test("may be another once it is recorded, and all lines that change are shown then", async () => {
    const { state } = await madeBy(installing);
    const sysctls = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`net.key${index}`, "1"]));
    const news = { ...inputs, machineConfiguration: config({ sysctls }) };
    const lines = (contract: string) => operations.notes(state, { ...news, contract })[0]?.text.split("\n") ?? [];
    expect(operations.refusal(state, { ...news, contract: "v1.14" })).toBeUndefined();
    expect(lines("v1.13").at(-1)).toMatch(/and \d+ more$/);
    expect(lines("v1.14").length).toBeGreaterThan(50);
  });

  test("is not judged while it is unknown", async () => {
    expect(operations.refusal(await unrecorded(), { ...inputs, contract: unknownValue })).toBeUndefined();
  });
});

describe("S5.4 a change that skips a minor version of Kubernetes", () => {
  const kubernetes = (version: string) =>
    config({ kubelet: { image: `ghcr.io/siderolabs/kubelet:v${version}` }, sysctls: { a: "MARKER" } });
  const refused = (olds: Partial<AppliedMachineConfigState>, news: Partial<AppliedMachineConfigInputs>) =>
    operations.refusal({ ...inputs, ...observed, ...olds }, { ...inputs, ...news });
  const observed = {
    joins: 0,
    version: "",
    schematic: "",
    stage: "",
    configHash: "",
    attempts: 1,
    drift: [],
    state: "ours",
  } as const;
  const [older, newer] = [
    { machineConfiguration: kubernetes("1.33.1") },
    { machineConfiguration: kubernetes("1.36.4") },
  ];

  test("is refused without a call to the node, which it names with both versions and the next step", () => {
    const error = refused(older, newer);
    expect(error).toMatchObject({ code: "SLU-T214" });
    expect(error?.message).toMatch(/where: +w-1\n.*\n +seen: +kubelet runs 1\.33\.1, and would be 1\.36\.4\n/);
    expect(error?.message).toContain("set kubernetesVersion to a release of 1.34,");
    expect(error?.message).not.toContain("MARKER");
  });

  test("is refused for a machine that is replaced in the same run", () => {
    expect(refused(older, { ...newer, machineId: "machine 2" })).toBeDefined();
  });

  test("is compared with what a refresh found on the node, if that differs from what was sent", () => {
    expect(refused({ ...newer, found: older.machineConfiguration }, newer)).toBeDefined();
    expect(refused({ ...older, found: newer.machineConfiguration }, newer)).toBeUndefined();
  });

  test("is not known while the config is not", () => {
    expect(refused(older, { machineConfiguration: unknownValue })).toBeUndefined();
  });
});

describe("an update of a node's configuration", () => {
  test("S1.6 writes nothing if the node runs the wanted config", async () => {
    const { context } = await made();
    const node = context.nodes.get("w-1");
    node?.calls.splice(0);
    await operations.create({ ...inputs, credentials: { ...credentials, crt: "renewed" } }, context);
    expect(node?.calls).toEqual([]);
  });

  test("S0.2 S1.6 gives a node that lost its config its config again, and counts that [C13]", async () => {
    const { context, state } = await made();
    const node = context.nodes.get("w-1");
    if (node !== undefined) {
      node.kind = "maintenance";
      node.running = undefined;
    }
    const again = await operations.update(state, { ...inputs, lostConfigIn: "this run" }, context);
    expect(again).toMatchObject({ state: "ours", joins: 1 });
    expect(node?.calls).toEqual(["apply AUTO", "apply AUTO"]);
  });
});

describe("a node that runs another Talos than its config installs", () => {
  const update = async (change: Partial<FakeNode>) => {
    const { context } = await madeBy(installing);
    Object.assign(context.nodes.get("w-1") ?? {}, change);
    return operations.create({ ...inputs, machineConfiguration: installing }, context);
  };

  test("U3 is refused with the command that upgrades it, and nothing is written to it", async () => {
    const { context } = await madeBy(installing);
    const node = context.nodes.get("w-1");
    node?.calls.splice(0);
    if (node !== undefined) node.version = "1.12.6";
    const refused = await operations.create({ ...inputs, machineConfiguration: installing }, context).catch(String);
    expect(refused).toContain("SLU-T212 The node runs a different Talos than the environment specifies");
    expect(refused).toContain("where:      w-1, ours, after 1 attempt");
    expect(refused).toContain("seen:       runs Talos 1.12.6, not 1.13.8");
    expect(refused).toContain(
      "`npm run up -- <environment> --refresh` finds that out and brings the node to the Talos that it should run",
    );
    expect(node?.calls).toEqual([]);
  });

  test("U3 is refused for its schematic alone, too", async () => {
    await expect(update({ schematic: "b".repeat(64) })).rejects.toThrow(
      "runs schematic bbbbbbbbbbbb..., not aaaaaaaaaaaa...",
    );
  });

  test("U3 is refused if a bare installer removed its extensions [C19]", async () => {
    await expect(update({ schematic: "" })).rejects.toThrow(/SLU-T212.*runs an image without a schematic/s);
  });

  test("is not judged by the medium that it installs from", async () => {
    expect(await update({ schematic: "", stage: "installing" })).toMatchObject({
      stage: "installing",
      drift: [],
    });
  });

  test("is accepted when it was upgraded, although no refresh has observed it since (S1.6)", async () => {
    expect(await update({})).toMatchObject({ version: "1.13.8", drift: [] });
  });
});

describe("the refresh of a node's configuration (U3)", () => {
  test("changes nothing for a node without drift", async () => {
    const { context, state } = await made();
    expect(await operations.read(state, context)).toStrictEqual(state);
    expect(context.noted).toEqual([]);
  });

  test("finds a config that was changed by hand, and the next preview shows what [C32]", async () => {
    const { context, state } = await made();
    const byHand = config({ sysctls: { a: "1", "by.hand": "1" } });
    context.nodes.get("w-1")?.runs(byHand);
    const props = await operations.read(state, context);
    const drift = ['machine config: machine.sysctls."by.hand" is 1, and should not be there'];
    expect(props).toEqual({
      ...state,
      found: byHand,
      configHash: expect.not.stringContaining(state.configHash),
      drift,
    });
    expect(context.noted).toEqual([`w-1: ${drift[0]}`]);
    const text = 'w-1: 1 change of the machine config, without a reboot\n  - machine.sysctls."by.hand": 1';
    expect(operations.notes(props, inputs)).toEqual([{ text, as: "info" }]);
  });

  test.each([
    ["unreachable", "w-1 does not answer: no answer. Its last known state is kept."],
    ["settling", "w-1 does not answer: it is in stage booting. Its last known state is kept."],
  ] as const)("keeps a node that is %s", async (kind, told) => {
    const { context, state } = await made();
    const node = context.nodes.get("w-1");
    if (node !== undefined) node.kind = kind;
    expect(await operations.read(state, context)).toEqual(state);
    expect(context.noted).toEqual([told]);
  });

  test.each([
    [unavailable(), "w-1 does not answer: Connection dropped. Its last known state is kept."],
    [
      refusal(status.PERMISSION_DENIED, "not authorized"),
      "w-1 could not be observed (SLU-T105): not authorized. Its last known state is kept.",
    ],
  ])("distinguishes a node that refuses from one that does not answer: %s", async (error, told) => {
    const { context, state } = await made();
    context.nodes.get("w-1")?.fail("version", () => {
      throw error;
    });
    expect(await operations.read(state, context)).toEqual(state);
    expect(context.noted).toEqual([told]);
  });

  test("finds the drift again the next time, and no longer when it was reverted", async () => {
    const { context, state } = await made();
    const node = context.nodes.get("w-1");
    node?.runs(config({ sysctls: { a: "2" } }));
    const once = await operations.read(state, context);
    expect(await operations.read(once, context)).toEqual(once);
    node?.runs(inputs.machineConfiguration);
    expect(await operations.read(once, context)).toStrictEqual(state);
  });

  test("leaves another Talos to the resource that upgrades it [C32]", async () => {
    const { context, state } = await madeBy(installing);
    const node = context.nodes.get("w-1");
    if (node !== undefined) [node.version, node.schematic] = ["1.12.6", "b".repeat(64)];
    const props = await operations.read(state, context);
    expect(props).toMatchObject({ version: "1.12.6", schematic: "b".repeat(64), drift: [] });
    expect(operations.difference(props, { ...inputs, machineConfiguration: installing })).toEqual({ kind: "none" });
  });

  test.each([
    ["maintenance", "is in maintenance, without a config"],
    ["foreign", "belongs to another cluster: its certificate is of others"],
  ] as const)("reports a node that is in state %s, and keeps it", async (kind, told) => {
    const { context, state } = await made();
    const node = context.nodes.get("w-1");
    if (node !== undefined) node.kind = kind;
    expect(await operations.read(state, context)).toEqual({ ...state, state: kind, drift: [told] });
    expect(context.noted).toEqual([`w-1: ${told}`]);
  });

  test("ends after five seconds and never throws, however the node hangs", async () => {
    const { context, state } = await made();
    const began = context.clock.now();
    const hanging = { ...context.access, probe: () => new Promise<never>(() => undefined) };
    const { clock, report, note, random } = context;
    const result = await operations.read(state, { access: hanging, clock, report, note, random });
    expect(result).toEqual(state);
    expect(clock.now() - began).toBe(5000);
  });

  test("shows no secret", async () => {
    const { context, state } = await made();
    context.nodes.get("w-1")?.runs(config({ env: { A: "MARKER" } }));
    const props = await operations.read(state, context);
    for (const { text } of operations.notes(props, inputs)) await context.note(text);
    expect(everythingSaid(context)).not.toContain("MARKER");
  });
});
