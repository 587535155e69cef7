import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import { catalogue } from "../../../components/errors/catalogue.ts";
import {
  create,
  diff,
  type GateProperties,
  type GateState,
  read,
  update,
} from "../../../components/gates/gate.provider.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { Engine } from "./engine.ts";

/** A refresh polls an unmet condition for some seconds. */
jest.setTimeout(30_000);

const api = new ApiServer();
const engine = new Engine();
let properties: GateProperties;

beforeAll(() => Promise.all([api.start(), engine.start()]));
afterAll(async () => {
  engine.stop();
  await api.stop();
});
beforeEach(() => {
  engine.told.length = 0;
  engine.warned.length = 0;
  api.asked.length = 0;
  api.answer = (_, response) => void response.end("ok");
  properties = {
    gate: "KubernetesApi",
    inputs: { answers: 2 },
    credentials: { kubeconfig: api.kubeconfig() },
    settings: { deadlineSeconds: 10, stableSeconds: 0 },
    triggers: ["a"],
    row: "urn:of:the:gate",
  };
});

const refuse = () => {
  api.answer = (_, response) => void response.writeHead(500).end("not yet");
};
/** The state of a gate after a refresh. */
const refreshed = async (state: GateState): Promise<GateState> => {
  const { id, props } = await read(state.gate, state);
  if (id !== state.gate || props === undefined) throw new Error("the gate is gone");
  return props;
};
const opened = async (): Promise<GateState> => (await create(properties)).outs;

describe("S3.2 the creation of a gate", () => {
  test("keeps its evidence and how long it took, and shows progress in its row [C28]", async () => {
    const { id, outs } = await create(properties);
    expect(id).toBe("KubernetesApi");
    const server = expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(outs).toEqual({
      ...properties,
      evidence: { server },
      waitedSeconds: expect.any(Number),
      drift: [],
      opening: expect.any(String),
      proved: [],
    });
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate: open after ${outs.waitedSeconds} s`);
  });

  test("S1.7 fails when it does not open, with what was observed, how long, and what to do", async () => {
    refuse();
    const error = await create({ ...properties, settings: { deadlineSeconds: 1, stableSeconds: 0 } }).catch(
      (reason: Error) => reason,
    );
    expect(String(error).split("\n")).toEqual([
      "SluiceError: SLU-K101 The Kubernetes API does not answer: gate KubernetesApi did not open within 1 s",
      "  expected:   the Kubernetes API to be ready 2 times in a row",
      expect.stringMatching(/^ {2}seen: {7}https:\/\/127\.0\.0\.1:\d+: 500 not yet \(for 1 s\)$/),
      `  cause:      ${catalogue["SLU-K101"].cause}`,
      expect.stringMatching(/^ {2}what to do: Check the endpoint/),
    ]);
  });
});

describe("S1.7 a gate that cannot run its check", () => {
  const failureOf = async (gate: Partial<GateProperties>): Promise<readonly string[]> => {
    const error = await create({ ...properties, ...gate }).catch((reason: Error) => reason);
    return String(error).split("\n");
  };

  test("reports the gate, the node, the reason, and what to do", async () => {
    const node = { name: "w-1", role: "worker", talosAddress: "127.0.0.1", address: "127.0.0.1" };
    expect(await failureOf({ gate: "Stages", inputs: { nodes: [node] }, credentials: {} })).toEqual([
      "SluiceError: SLU-T113 The node's response has an unexpected format: gate Stages",
      "  where:      w-1",
      expect.stringMatching(/^ {2}seen: {7}./),
      `  cause:      ${catalogue["SLU-T113"].cause}`,
      `  what to do: ${catalogue["SLU-T113"].remedy}`,
    ]);
  });

  test("reports the reason and what to do if no node is the cause", async () => {
    expect(await failureOf({ credentials: { kubeconfig: "{" } })).toEqual([
      "SluiceError: SLU-K119 A health gate could not run its check: gate KubernetesApi",
      "  seen:       the kubeconfig cannot be read as YAML",
      `  cause:      ${catalogue["SLU-K119"].cause}`,
      `  what to do: ${catalogue["SLU-K119"].remedy}`,
    ]);
  });
});

describe("S10.1 a gate that runs while gates of the state are compared with the program", () => {
  /** Another gate of the state, which an earlier run left unproven and which could not be observed. */
  const another = (gate: string, changes: Partial<GateProperties> = {}) => {
    const is = { ...properties, gate, inputs: {}, credentials: {}, ...changes };
    const state = { ...is, evidence: {}, waitedSeconds: 1, drift: [], opening: `of ${gate}`, proved: [] };
    return { state, is };
  };

  test("waits for none above it, which the engine compares first if a machine is replaced", async () => {
    const { state, is } = another("NodesReady");
    await diff("NodesReady", state, is);
    expect((await opened()).proved).toEqual([]);
  });

  test("waits for none with values that are not known yet", async () => {
    const { state, is } = another("Stages", { inputs: { nodes: unknownValue } });
    await diff("Stages", state, is);
    expect((await opened()).proved).toEqual([]);
  });
});

describe("U3 the refresh of a gate", () => {
  test("finds nothing if nothing has changed", async () => {
    const outs = await opened();
    expect(await refreshed(outs)).toEqual(outs);
  });

  test("names what no longer holds, and the gate runs again in the next run", async () => {
    const outs = await opened();
    refuse();
    const props = await refreshed(outs);
    expect(props.drift).toEqual([expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+: 500 not yet$/)]);
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate for good: conditions are no longer met: ${props.drift[0]}`);
    expect(await diff("KubernetesApi", props, properties)).toEqual({ changes: true, replaces: [] });
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate: must run again: ${props.drift[0]}`);

    api.answer = (_, response) => void response.end("ok");
    const { outs: again } = await update("KubernetesApi", props, properties);
    expect(again.drift).toEqual([]);
  });

  test("keeps and shows new evidence while the gate is open, which is no drift", async () => {
    const outs = { ...(await opened()), evidence: { server: "https://10.0.0.1:6443", volume: "was tried" } };
    const props = await refreshed(outs);
    expect(props.evidence).toEqual({ server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:/), volume: "was tried" });
    expect(props.drift).toEqual([]);
    expect(engine.told.at(-1)).toMatch(
      /^urn:of:the:gate: is open; new evidence: \{"server":"https:\/\/127\.0\.0\.1:\d+"\}$/,
    );
    expect(await diff("KubernetesApi", props, properties)).toEqual({ changes: false, replaces: [] });
  });

  test("treats what could not be checked in time as unknown, and not as drift", async () => {
    const outs = await opened();
    const many = { ...outs, inputs: { answers: 1000 } };
    const props = await refreshed(many);
    expect(props.drift).toEqual([]);
    expect(engine.told.at(-1)).toMatch(
      /^urn:of:the:gate for good: could not be observed in 8 s: .*\d+ good answers so far$/,
    );
  });

  test("never fails, not even on a gate that this version does not know: what cannot be checked is no drift", async () => {
    const outs = await opened();
    const odd = [
      { ...outs, gate: "Unheard" },
      { ...outs, credentials: { kubeconfig: "{" } },
      { ...outs, credentials: {} },
    ];
    for (const one of odd) {
      const props = await refreshed(one as GateState);
      expect(props).toEqual(one);
      expect(engine.told.at(-1)).toMatch(/^urn:of:the:gate for good: could not be observed: ./);
    }
  });
});

describe("what does not keep a gate closed but has to be reported", () => {
  const joined = (strangers: readonly string[]): GateProperties => {
    api.answer = undefined;
    for (const name of ["w-1", ...strangers]) api.put(name);
    return { ...properties, gate: "NodesJoined", inputs: { nodes: [{ name: "w-1" }] } };
  };
  const remark = /^urn:of:the:gate for good: in the cluster, but not in this environment: old-1 /;

  test("U3 is shown when it opens, and by a refresh again", async () => {
    const { outs } = await create(joined(["old-1"]));
    expect(outs.evidence).toMatchObject({ strangers: ["old-1"] });
    expect(engine.told).toContainEqual(expect.stringMatching(remark));
    engine.told.length = 0;
    const props = await refreshed(outs);
    expect(props).toEqual(outs);
    expect(engine.told).toEqual([expect.stringMatching(remark)]);
    // A warning of a refresh without a difference would be one about what could not be checked.
    expect(engine.warned).toEqual([expect.stringMatching(remark)]);
  });

  test("U3 is a warning of the refresh that first observes it", async () => {
    api.remove("old-1");
    const { outs } = await create(joined([]));
    engine.warned.length = 0;
    api.put("old-1");
    const props = await refreshed(outs);
    expect(props.evidence).toMatchObject({ strangers: ["old-1"] });
    expect(props.drift).toEqual([]);
    expect(engine.warned).toEqual([expect.stringMatching(remark)]);
  });
});

describe("U1 the next run of a gate", () => {
  const asked = () => api.asked.length;

  test("has nothing to do if nothing relevant has changed [C28]", async () => {
    const outs = await opened();
    const before = asked();
    const same = { ...properties, settings: { deadlineSeconds: 99, stableSeconds: 9 }, row: "urn:of:another:row" };
    expect(await diff("KubernetesApi", outs, same)).toEqual({ changes: false, replaces: [] });
    expect(asked()).toBe(before);
  });

  test.each<[string, Partial<GateProperties>]>([
    ["inputs", { inputs: { answers: 3 } }],
    ["triggers", { triggers: ["b"] }],
    ["secrets", { secretTriggers: ["b"] }],
  ])("waits again if %s have changed, and shows that", async (what, change) => {
    const outs = await opened();
    const before = asked();
    expect(await diff("KubernetesApi", outs, { ...properties, ...change })).toEqual({ changes: true, replaces: [] });
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate: must run again: ${what} changed`);
    expect(asked()).toBe(before);
    await update("KubernetesApi", outs, { ...properties, ...change });
    expect(asked()).toBeGreaterThan(before);
  });

  test("may wait again, as the preview shows, if what it guards is not known yet", async () => {
    const outs = await opened();
    await diff("KubernetesApi", outs, { ...properties, triggers: [unknownValue] });
    expect(engine.told.at(-1)).toBe("urn:of:the:gate: may have to run again: triggers not known yet");
  });

  test("keeps renewed credentials without waiting again", async () => {
    const outs = await opened();
    const before = asked();
    const renewed = { ...properties, credentials: { kubeconfig: "renewed" } };
    expect(await diff("KubernetesApi", outs, renewed)).toEqual({ changes: true, replaces: [] });
    expect((await update("KubernetesApi", outs, renewed)).outs).toEqual({ ...outs, ...renewed });
    expect(asked()).toBe(before);
  });
});
