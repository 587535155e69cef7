import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { catalogue } from "../../../components/errors/catalogue.ts";
import type { GateOutputs, GateProperties } from "../../../components/gates/gateProperties.ts";
import { create, diff, read, update } from "../../../components/gates/run.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { Engine } from "./engine.ts";

/** A refresh looks for some seconds at what is not so. */
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
    settings: { deadline: 10, stable: 0 },
    triggers: ["a"],
    row: "urn:of:the:gate",
  };
});

const refuse = () => {
  api.answer = (_, response) => void response.writeHead(500).end("not yet");
};
const opened = async (): Promise<GateOutputs> => (await create(properties)).outs;

describe("S3.2 a gate that is made", () => {
  test("keeps what it saw and how long it took, and tells its row", async () => {
    const { id, outs } = await create(properties);
    expect(id).toBe("KubernetesApi");
    const server = expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(outs).toEqual({ ...properties, evidence: { server }, waited: expect.any(Number), drift: [] });
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate: open after ${outs.waited} s`);
  });

  test("S1.7 throws when it does not open: gate, what was seen, how long, what to do", async () => {
    refuse();
    const error = await create({ ...properties, settings: { deadline: 1, stable: 0 } }).catch(
      (reason: Error) => reason,
    );
    expect(String(error).split("\n")).toEqual([
      "GateFailure: KubernetesApi did not open within 1 s (SLU-K101: The Kubernetes API does not answer)",
      "  waited for the Kubernetes API to be ready 2 times in a row:",
      expect.stringMatching(/^ {4}https:\/\/127\.0\.0\.1:\d+: 500 not yet \(for 1 s\)$/),
      expect.stringMatching(/^ {2}What to do: Check the endpoint/),
    ]);
  });
});

describe("S1.7 a gate that cannot look", () => {
  const failureOf = async (gate: Partial<GateProperties>): Promise<readonly string[]> => {
    const error = await create({ ...properties, ...gate }).catch((reason: Error) => reason);
    return String(error).split("\n");
  };

  test("says which gate, at which node, why, and what to do", async () => {
    const node = { name: "w-1", role: "worker", endpoint: "127.0.0.1", address: "127.0.0.1" };
    expect(await failureOf({ gate: "Stages", inputs: { nodes: [node] }, credentials: {} })).toEqual([
      "Error: Stages cannot look (SLU-T113: A node's answer cannot be read)",
      expect.stringMatching(/^ {2}w-1: ./),
      `  What to do: ${catalogue["SLU-T113"].remedy}`,
    ]);
  });

  test("says why and what to do where it is no node's fault", async () => {
    expect(await failureOf({ credentials: { kubeconfig: "{" } })).toEqual([
      "Error: KubernetesApi cannot look (SLU-K119: A gate cannot look)",
      "  the kubeconfig is not one: it cannot be read as YAML",
      `  What to do: ${catalogue["SLU-K119"].remedy}`,
    ]);
  });
});

describe("U3 a refresh", () => {
  test("finds nothing where all is as it was", async () => {
    const outs = await opened();
    expect(await read("KubernetesApi", outs)).toEqual({ id: "KubernetesApi", props: outs });
  });

  test("reports by name what is no longer so, and the next run waits again", async () => {
    const outs = await opened();
    refuse();
    const { props } = await read("KubernetesApi", outs);
    expect(props.drift).toEqual([expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+: 500 not yet$/)]);
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate for good: is not so any more: ${props.drift[0]}`);
    expect(await diff("KubernetesApi", props, properties)).toEqual({ changes: true });
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate: has to be proven again: ${props.drift[0]}`);

    api.answer = (_, response) => void response.end("ok");
    const { outs: again } = await update("KubernetesApi", props, properties);
    expect(again.drift).toEqual([]);
  });

  test("keeps what is seen by now, and says it, while the gate is open: that is no drift", async () => {
    const outs = { ...(await opened()), evidence: { server: "https://10.0.0.1:6443", volume: "was tried" } };
    const { props } = await read("KubernetesApi", outs);
    expect(props.evidence).toEqual({ server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:/), volume: "was tried" });
    expect(props.drift).toEqual([]);
    expect(engine.told.at(-1)).toMatch(
      /^urn:of:the:gate: is open, and now sees \{"server":"https:\/\/127\.0\.0\.1:\d+"\}$/,
    );
    expect(await diff("KubernetesApi", props, properties)).toEqual({ changes: false });
  });

  test("takes what could not be looked at in time for unknown, and not for another state of things", async () => {
    const outs = await opened();
    const many = { ...outs, inputs: { answers: 1000 } };
    const { props } = await read("KubernetesApi", many);
    expect(props.drift).toEqual([]);
    expect(engine.told.at(-1)).toMatch(
      /^urn:of:the:gate for good: could not be looked at in 8 s: .*\d+ good answers so far$/,
    );
  });

  test("never fails, not even on a gate that this version does not know: that nobody could look is no drift", async () => {
    const outs = await opened();
    const odd = [
      { ...outs, gate: "Unheard" },
      { ...outs, credentials: { kubeconfig: "{" } },
      { ...outs, credentials: {} },
    ];
    for (const one of odd) {
      const { props } = await read("KubernetesApi", one as GateOutputs);
      expect(props).toEqual(one);
      expect(engine.told.at(-1)).toMatch(/^urn:of:the:gate for good: could not be looked at: ./);
    }
  });
});

describe("what does not hold a gate and has to be said all the same", () => {
  const joined = (strangers: readonly string[]): GateProperties => {
    api.answer = undefined;
    for (const name of ["w-1", ...strangers]) api.put(name);
    return { ...properties, gate: "NodesJoined", inputs: { nodes: [{ name: "w-1" }] } };
  };
  const remark = /^urn:of:the:gate for good: not of this environment, but in the cluster: old-1 /;

  test("U3 is said when it opens, and by a refresh again", async () => {
    const { outs } = await create(joined(["old-1"]));
    expect(outs.evidence).toMatchObject({ strangers: ["old-1"] });
    expect(engine.told).toContainEqual(expect.stringMatching(remark));
    engine.told.length = 0;
    const { props } = await read("NodesJoined", outs);
    expect(props).toEqual(outs);
    expect(engine.told).toEqual([expect.stringMatching(remark)]);
    // A warning of a refresh that finds all as it was would be one of what could not be looked at.
    expect(engine.warned).toEqual([expect.stringMatching(remark)]);
  });

  test("U3 is a warning of the refresh that sees it first", async () => {
    api.remove("old-1");
    const { outs } = await create(joined([]));
    engine.warned.length = 0;
    api.put("old-1");
    const { props } = await read("NodesJoined", outs);
    expect(props.evidence).toMatchObject({ strangers: ["old-1"] });
    expect(props.drift).toEqual([]);
    expect(engine.warned).toEqual([expect.stringMatching(remark)]);
  });
});

describe("U1 the next run", () => {
  const asked = () => api.asked.length;

  test("has nothing to do where nothing that matters has changed", async () => {
    const outs = await opened();
    const before = asked();
    const same = { ...properties, settings: { deadline: 99, stable: 9 }, row: "urn:of:another:row" };
    expect(await diff("KubernetesApi", outs, same)).toEqual({ changes: false });
    expect(asked()).toBe(before);
  });

  test.each<[string, Partial<GateProperties>]>([
    ["inputs", { inputs: { answers: 3 } }],
    ["triggers", { triggers: ["b"] }],
    ["secrets", { secretTriggers: ["b"] }],
  ])("waits again where %s have changed, and says so", async (what, change) => {
    const outs = await opened();
    const before = asked();
    expect(await diff("KubernetesApi", outs, { ...properties, ...change })).toEqual({ changes: true });
    expect(engine.told.at(-1)).toBe(`urn:of:the:gate: has to be proven again: ${what} changed`);
    expect(asked()).toBe(before);
    await update("KubernetesApi", outs, { ...properties, ...change });
    expect(asked()).toBeGreaterThan(before);
  });

  test("keeps renewed credentials without waiting again", async () => {
    const outs = await opened();
    const before = asked();
    const renewed = { ...properties, credentials: { kubeconfig: "renewed" } };
    expect(await diff("KubernetesApi", outs, renewed)).toEqual({ changes: true });
    expect((await update("KubernetesApi", outs, renewed)).outs).toEqual({ ...outs, ...renewed });
    expect(asked()).toBe(before);
  });
});
