import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import {
  type NodeConfigurationInputs,
  type NodeConfigurationState,
  operations,
} from "../../../components/talos/applyConfiguration.ts";
import { standardRetry } from "../../../components/talos/retry.ts";
import { config, credentials, everythingSaid, type FakeNode, FakeWorld, refusal, unavailable } from "./fakeNodes.ts";

const inputs: NodeConfigurationInputs = {
  node: "w-1",
  role: "worker",
  endpoint: "w-1",
  address: "w-1",
  peers: [],
  machineConfiguration: config({ sysctls: { a: "1" } }),
  credentials,
  identity: {},
  machineId: "machine 1",
  retry: standardRetry,
  deadline: 300,
  row: "the urn",
};

/** The state after an update, and the world in which it was made. */
const made = () => madeBy(inputs.machineConfiguration);

/** A config that would install what the node runs. */
const installing = config({ install: { image: `factory.example.org/metal-installer/${"a".repeat(64)}:v1.13.8` } });

async function madeBy(
  machineConfiguration: string,
): Promise<{ world: FakeWorld; id: string; state: NodeConfigurationState }> {
  const world = new FakeWorld();
  world.add("w-1").schematic = "a".repeat(64);
  const { id, outs } = await operations.create({ ...inputs, machineConfiguration }, world);
  world.noted.length = 0;
  return { world, id, state: outs };
}

describe("making a node's configuration", () => {
  test("U3 keeps what the node was seen to be, and a hash of what it runs", async () => {
    const { id, state } = await made();
    expect(id).toBe("w-1");
    expect(state).toEqual({
      ...inputs,
      version: "1.13.8",
      schematic: "a".repeat(64),
      stage: "running",
      configHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      state: "ours",
      attempts: 1,
      drift: [],
    });
  });

  test("S1.5 tells after the run that it took more than one try", async () => {
    const world = new FakeWorld();
    world.add("w-1").fail("apply", () => {
      throw unavailable();
    });
    await operations.create(inputs, world);
    expect(world.noted).toEqual(["w-1 runs its config after 2 tries"]);
  });
});

describe("the difference that a preview shows (U2)", () => {
  const diff = async (olds: Partial<NodeConfigurationState>, news: Partial<NodeConfigurationInputs>) => {
    const { world, state } = await made();
    const nodes = world.nodes.get("w-1");
    const calls = nodes?.calls.length;
    const result = await operations.diff({ ...state, ...olds }, { ...inputs, ...news }, world);
    expect(nodes?.calls).toHaveLength(calls ?? -1);
    return { result, noted: world.noted };
  };

  test("is none when nothing changed, nor when only the writing did", async () => {
    expect(await diff({}, {})).toEqual({
      result: expect.objectContaining({ changes: false, replaces: [] }),
      noted: [],
    });
    const rewritten = `# made anew\n${inputs.machineConfiguration}`;
    expect((await diff({}, { machineConfiguration: rewritten })).result.changes).toBe(false);
  });

  test("is told for each node, secrets masked, with whether it reboots", async () => {
    const machineConfiguration = config({ sysctls: { a: "1" }, env: { PASSWORD: "MARKER" } });
    expect(await diff({}, { machineConfiguration })).toEqual({
      result: expect.objectContaining({ changes: true, replaces: [] }),
      noted: ["w-1: 1 change of the machine config, w-1 REBOOTS\n  + machine.env.PASSWORD: <redacted>  [reboot]"],
    });
  });

  test("is not known while the config is not", async () => {
    expect(await diff({}, { machineConfiguration: unknownValue })).toEqual({
      result: expect.objectContaining({ changes: true }),
      noted: [],
    });
  });

  test("is a new resource where the machine is another one", async () => {
    const { result } = await diff({}, { machineId: "machine 2" });
    expect(result).toMatchObject({ changes: true, replaces: ["machineId"] });
  });

  test.each([
    ["the address", { endpoint: "w-2" }],
    ["the client's certificate", { credentials: { ...credentials, crt: "another" } }],
    ["the identity", { identity: { mac: "02:00:00:00:00:01" } }],
  ])("is one for %s, so that a refresh looks at the right place", async (_what, changed) => {
    expect((await diff({}, changed)).result).toMatchObject({ changes: true, replaces: [] });
  });

  test("is none for how often and how long is tried", async () => {
    expect((await diff({}, { deadline: 1, retry: { ...standardRetry, retries: 0 } })).result.changes).toBe(false);
  });

  test("U3 is one when a refresh found the node without its config", async () => {
    expect((await diff({ drift: ["is in maintenance, without a config"] }, {})).result.changes).toBe(true);
  });
});

describe("an update", () => {
  test("S1.6 writes nothing where the node runs what is wanted", async () => {
    const { world } = await made();
    const node = world.nodes.get("w-1");
    node?.calls.splice(0);
    await operations.update({ ...inputs, credentials: { ...credentials, crt: "renewed" } }, world);
    expect(node?.calls).toEqual([]);
  });

  test("S0.2 gives a node that lost its config its config again", async () => {
    const { world } = await made();
    const node = world.nodes.get("w-1");
    if (node !== undefined) {
      node.kind = "maintenance";
      node.running = undefined;
    }
    expect((await operations.update(inputs, world)).outs.state).toBe("ours");
    expect(node?.calls).toEqual(["apply AUTO", "apply AUTO"]);
  });
});

describe("a node that runs another Talos than its config installs", () => {
  const update = async (change: Partial<FakeNode>) => {
    const { world } = await madeBy(installing);
    Object.assign(world.nodes.get("w-1") ?? {}, change);
    return operations.update({ ...inputs, machineConfiguration: installing }, world);
  };

  test("U3 is refused with what to type, and nothing is written to it", async () => {
    const { world } = await madeBy(installing);
    const node = world.nodes.get("w-1");
    node?.calls.splice(0);
    if (node !== undefined) node.version = "1.12.6";
    const at = { ...inputs, address: "10.0.0.21", machineConfiguration: installing };
    const refused = await operations.update(at, world).catch(String);
    expect(refused).toContain("SLU-T212 The node runs another Talos than the environment asks for");
    expect(refused).toContain("where:  w-1, ours, after 1 try");
    expect(refused).toContain("seen:   runs Talos 1.12.6, not 1.13.8");
    expect(refused).toContain(
      `talosctl upgrade --nodes 10.0.0.21 --image factory.example.org/metal-installer/${"a".repeat(64)}:v1.13.8`,
    );
    expect(node?.calls).toEqual([]);
  });

  test("U3 is refused for its schematic alone, too", async () => {
    await expect(update({ schematic: "b".repeat(64) })).rejects.toThrow(
      "runs schematic bbbbbbbbbbbb..., not aaaaaaaaaaaa...",
    );
  });

  test("U3 is refused where a bare installer took its extensions (complaint 19)", async () => {
    await expect(update({ schematic: "" })).rejects.toThrow(/SLU-T212.*runs an image without a schematic/s);
  });

  test("is not judged by the medium that it installs from", async () => {
    expect((await update({ schematic: "", stage: "installing" })).outs).toMatchObject({
      stage: "installing",
      drift: [],
    });
  });

  test("is let through when it was upgraded, though no refresh has seen it since (S1.6)", async () => {
    expect((await update({})).outs).toMatchObject({ version: "1.13.8", drift: [] });
  });
});

describe("a refresh (U3)", () => {
  test("changes nothing of a node that is as it was left", async () => {
    const { world, id, state } = await made();
    expect(await operations.read(id, state, world)).toStrictEqual({ id, props: state });
    expect(world.noted).toEqual([]);
  });

  test("finds a config that was changed by hand, and the next preview shows what", async () => {
    const { world, id, state } = await made();
    const byHand = config({ sysctls: { a: "1", "by.hand": "1" } });
    world.nodes.get("w-1")?.runs(byHand);
    const { props } = await operations.read(id, state, world);
    const drift = ['machine config: machine.sysctls."by.hand" is 1, and should not be there'];
    expect(props).toEqual({
      ...state,
      found: byHand,
      configHash: expect.not.stringContaining(state.configHash),
      drift,
    });
    expect(world.noted).toEqual([`w-1: ${drift[0]}`]);
    await operations.diff(props, inputs, world);
    expect(world.noted.at(-1)).toBe(
      'w-1: 1 change of the machine config, without a reboot\n  - machine.sysctls."by.hand": 1',
    );
  });

  test.each([
    ["unreachable", "w-1 does not answer: no answer. What is known of it is kept."],
    ["settling", "w-1 does not answer: it is in stage booting. What is known of it is kept."],
  ] as const)("keeps a node that is %s", async (kind, told) => {
    const { world, id, state } = await made();
    const node = world.nodes.get("w-1");
    if (node !== undefined) node.kind = kind;
    expect(await operations.read(id, state, world)).toEqual({ id, props: state });
    expect(world.noted).toEqual([told]);
  });

  test.each([
    [unavailable(), "w-1 does not answer: Connection dropped. What is known of it is kept."],
    [
      refusal(status.PERMISSION_DENIED, "not authorized"),
      "w-1 could not be looked at (SLU-T105): not authorized. What is known of it is kept.",
    ],
  ])("tells a node that refuses from one that does not answer: %s", async (error, told) => {
    const { world, id, state } = await made();
    world.nodes.get("w-1")?.fail("version", () => {
      throw error;
    });
    expect(await operations.read(id, state, world)).toEqual({ id, props: state });
    expect(world.noted).toEqual([told]);
  });

  test("finds it again the next time, and no more when it was taken back", async () => {
    const { world, id, state } = await made();
    const node = world.nodes.get("w-1");
    node?.runs(config({ sysctls: { a: "2" } }));
    const { props: once } = await operations.read(id, state, world);
    expect((await operations.read(id, once, world)).props).toEqual(once);
    node?.runs(inputs.machineConfiguration);
    expect((await operations.read(id, once, world)).props).toStrictEqual(state);
  });

  test("finds a Talos that is another one than the config installs, by its version and by its schematic", async () => {
    const { world, id, state } = await madeBy(installing);
    const node = world.nodes.get("w-1");
    if (node !== undefined) [node.version, node.schematic] = ["1.12.6", "b".repeat(64)];
    const { props } = await operations.read(id, state, world);
    expect(props.drift).toEqual([
      "runs Talos 1.12.6, not 1.13.8",
      "runs schematic bbbbbbbbbbbb..., not aaaaaaaaaaaa...",
    ]);
    expect((await operations.diff(props, { ...inputs, machineConfiguration: installing }, world)).changes).toBe(true);
  });

  test.each([
    ["maintenance", "is in maintenance, without a config"],
    ["foreign", "belongs to another cluster: its certificate is of others"],
  ] as const)("reports a node that is in state %s, and keeps it", async (kind, told) => {
    const { world, id, state } = await made();
    const node = world.nodes.get("w-1");
    if (node !== undefined) node.kind = kind;
    expect(await operations.read(id, state, world)).toEqual({ id, props: { ...state, state: kind, drift: [told] } });
    expect(world.noted).toEqual([`w-1: ${told}`]);
  });

  test("ends after five seconds and never throws, however the node hangs", async () => {
    const { world, id, state } = await made();
    const began = world.clock.now();
    const hanging = { ...world.access, probe: () => new Promise<never>(() => undefined) };
    const { clock, report, note, chance } = world;
    const result = await operations.read(id, state, { access: hanging, clock, report, note, chance });
    expect(result).toEqual({ id, props: state });
    expect(clock.now() - began).toBe(5000);
  });

  test("says nothing secret", async () => {
    const { world, id, state } = await made();
    world.nodes.get("w-1")?.runs(config({ env: { A: "MARKER" } }));
    const { props } = await operations.read(id, state, world);
    await operations.diff(props, inputs, world);
    expect(everythingSaid(world)).not.toContain("MARKER");
  });
});
