import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Pod } from "../../../components/kubernetes/objects.ts";
import { cordon, drain, isEvicted } from "../../../components/lifecycle/drain.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";

jest.setTimeout(30_000);

const clock = systemClock;
let api: ApiServer;
beforeEach(async () => {
  api = new ApiServer();
  await api.start();
});
afterEach(() => api.stop());

const said: string[] = [];
const drained = (seconds: number) =>
  drain(
    {
      kubeconfig: api.kubeconfig(),
      node: "w-1",
      until: clock.now() + seconds * 1000,
      report: (text) => void said.push(text),
    },
    clock,
  );
const nameIn = (url = "") => url.split("/").at(-2) ?? "";
const budget = JSON.stringify({
  message: "Cannot evict pod as it would violate the pod's disruption budget.",
  details: {
    causes: [
      { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
    ],
  },
});

describe("the drain of a node", () => {
  test("evicts every pod and ends when the last has gone", async () => {
    api.put("a");
    api.put("b");
    api.change = ({ url }, response) => {
      response.writeHead(201).end("{}");
      api.remove(nameIn(url));
    };
    await drained(20);
    const evictions = api.asked.filter((call) => call.startsWith("POST"));
    expect(new Set(evictions)).toEqual(
      new Set(["a", "b"].map((name) => `POST /api/v1/namespaces/default/pods/${name}/eviction`)),
    );
  });

  test("retries when a budget that forbade it has changed [C24]", async () => {
    api.put("a");
    let refusals = 0;
    api.change = ({ url }, response) => {
      if (refusals === 0) {
        refusals += 1;
        response.writeHead(429).end(budget);
        api.put("budget"); // every path of this server has the same list: it represents a budget that changes
        return;
      }
      response.writeHead(201).end("{}");
      api.remove(nameIn(url));
    };
    await drained(20);
    expect(refusals).toBe(1);
  });

  test("that is not done in time names the pod and the disruption budget [C24]", async () => {
    api.put("a");
    api.change = (_, response) => void response.writeHead(429).end(budget);
    await expect(drained(0.5)).rejects.toMatchObject({
      code: "SLU-L102",
      seen: "1 pod left; default/a: 429 Cannot evict pod as it would violate the pod's disruption budget. The disruption budget b needs 1 healthy pods and has 1 currently",
    });
  });

  test("reports that the Kubernetes API does not answer", async () => {
    const kubeconfig = api.kubeconfig();
    await api.stop();
    const made = drain({ kubeconfig, node: "w-1", until: clock.now() + 500, report: () => undefined }, clock);
    await expect(made).rejects.toMatchObject({
      code: "SLU-L102",
      seen: expect.stringContaining("refuses the connection"),
    });
    await api.start();
  });

  test("starts with a cordon", async () => {
    await cordon({ kubeconfig: api.kubeconfig(), node: "w-1" }, clock);
    expect(api.asked).toEqual(["PATCH /api/v1/nodes/w-1"]);
  });

  const pod = (metadata: Partial<Pod["metadata"]>, phase = "Running"): Pod => ({
    metadata: { name: "a", ...metadata },
    status: { phase },
  });
  test.each([
    ["a pod of a Deployment", pod({ ownerReferences: [{ kind: "ReplicaSet", name: "a", uid: "1" }] }), true],
    ["a pod of nobody", pod({}), true],
    ["a pod of a DaemonSet", pod({ ownerReferences: [{ kind: "DaemonSet", name: "a", uid: "1" }] }), false],
    ["a static pod", pod({ annotations: { "kubernetes.io/config.mirror": "hash" } }), false],
    ["a pod that is done", pod({}, "Succeeded"), false],
  ])("evicts %s: %#", (_, one, isTaken) => {
    expect(isEvicted(one)).toBe(isTaken);
  });
});
