import { describe, expect, test } from "@jest/globals";
import { callersOf } from "../../../../components/upgrade/kubernetes/callers.ts";
import { credentials, FakeWorld, unavailable } from "../../talos/fakeNodes.ts";

const serviceCidrs = { group: "networking.k8s.io", version: "v1beta1", resource: "servicecidrs" };
const event = (username: string, userAgent: string, changes: object = {}) =>
  JSON.stringify({
    verb: "list",
    user: { username },
    userAgent,
    objectRef: { resource: "servicecidrs", apiGroup: "networking.k8s.io", apiVersion: "v1beta1" },
    annotations: { "k8s.io/deprecated": "true", "k8s.io/removed-release": "1.37" },
    ...changes,
  });

async function callers(lines: readonly string[] | undefined): Promise<readonly string[]> {
  const world = new FakeWorld();
  const node = world.add("cp-1").runs("");
  if (lines !== undefined) node.files.set("/var/log/audit/kube/kube-apiserver.log", lines);
  return await callersOf(serviceCidrs, () => world.access.configured("cp-1", credentials));
}

describe("S8.3 who asks for an API that is going to be removed", () => {
  test("is named once, with the program", async () => {
    const web = "system:serviceaccount:apps:web";
    expect(
      await callers([
        event(web, "client-go/v0.30.0 (linux/amd64)"),
        event(web, "client-go/v0.30.0 (linux/amd64)"),
        event("admin", ""),
        event("other", "curl/8", { objectRef: { resource: "pods", apiVersion: "v1" } }),
        event("modern", "curl/8", { annotations: {} }),
        '{"annotations":{"k8s.io/deprecated":"tr',
      ]),
    ).toEqual([`${web} (client-go/v0.30.0)`, "admin"]);
  });

  test("is unknown without an audit log", async () => {
    expect(await callers(undefined)).toEqual([]);
  });

  test("are those that were found when the node stopped answering", async () => {
    const world = new FakeWorld();
    const node = world.add("cp-1").runs("");
    const lines = {
      *[Symbol.iterator]() {
        yield event("admin", "");
        throw unavailable();
      },
    };
    node.files.set("/var/log/audit/kube/kube-apiserver.log", lines as never);
    expect(await callersOf(serviceCidrs, () => world.access.configured("cp-1", credentials))).toEqual(["admin"]);
  });
});
