import { describe, expect, test } from "@jest/globals";
import {
  deprecatedCalls,
  listPath,
  nameOf,
  writersOf,
} from "../../../../components/upgrade/kubernetes/deprecatedCalls.ts";

// As kube-apiserver 1.36.4 answers.
const metrics = `# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="networking.k8s.io",removed_release="1.37",resource="servicecidrs",subresource="",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="networking.k8s.io",removed_release="1.37",resource="servicecidrs",subresource="status",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="resource.k8s.io",removed_release="1.38",resource="deviceclasses",subresource="",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="storage.k8s.io",removed_release="1.37",resource="volumeattributesclasses",subresource="",version="v1beta1"} 0
apiserver_request_total{code="200",group="networking.k8s.io",removed_release="1.37",resource="ipaddresses",version="v1beta1"} 7
`;
const serviceCidrs = { group: "networking.k8s.io", version: "v1beta1", resource: "servicecidrs", removedIn: "1.37" };

describe("S8.3 the APIs that an API server was asked for", () => {
  test("count once if the wanted version removes them", () => {
    expect(deprecatedCalls(metrics, 37)).toEqual([serviceCidrs]);
    expect(deprecatedCalls(metrics, 38).map(nameOf)).toEqual([
      "servicecidrs.v1beta1.networking.k8s.io",
      "deviceclasses.v1beta1.resource.k8s.io",
    ]);
    expect(deprecatedCalls(metrics, 36)).toEqual([]);
    expect(deprecatedCalls("", 37)).toEqual([]);
  });

  test("have names as kubectl prints them, and a path", () => {
    expect(nameOf(serviceCidrs)).toBe("servicecidrs.v1beta1.networking.k8s.io");
    expect(listPath(nameOf(serviceCidrs))).toBe("/apis/networking.k8s.io/v1beta1/servicecidrs");
    expect(nameOf({ group: "", version: "v1", resource: "endpoints" })).toBe("endpoints.v1");
    expect(listPath("endpoints.v1")).toBe("/api/v1/endpoints");
  });
});

describe("S8.3 who still writes objects of a removed API", () => {
  test("is named once, with an object", () => {
    const written = (name: string, manager: string, apiVersion: string) => ({
      metadata: { name, managedFields: [{ manager, apiVersion }] },
    });
    const objects = [
      written("one", "helm", "networking.k8s.io/v1beta1"),
      written("two", "helm", "networking.k8s.io/v1beta1"),
      written("three", "kubectl", "networking.k8s.io/v1"),
      { metadata: { name: "four", namespace: "apps" } },
    ];
    expect(writersOf(objects, nameOf(serviceCidrs))).toEqual(["helm (one)"]);
  });
});
