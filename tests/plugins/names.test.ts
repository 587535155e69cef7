// Lists of names that others define, compared with the programs that define them, as far as these can be built from package registries.
import { describe, expect, test } from "@jest/globals";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { removals } from "../../components/upgrade/kubernetes/removals.ts";
import { run } from "../../scripts/base/run.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { programPath } from "../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";
import { cpus, tooOld } from "../../stacks/platforms/proxmoxCatalogue.ts";
import { featureGateNames } from "../../stacks/rules/featureGateNames.ts";
import { answer, withPlugin } from "./support/plugin.ts";

describe("names that Sluice knows (S2.1, S4.1)", () => {
  test("have every feature gate that the API server lists; gates that have become fixed are in no list", async () => {
    const tool = toolNamed("controlplane");
    await ensureTools([tool]);
    const { stdout } = await run(programPath(tool), ["kube-apiserver", "--help"]);
    const listed = [...stdout.matchAll(/kube:([A-Z]\w+)=true\|false/g)].map(([, name = ""]) => name);
    expect(listed.length).toBeGreaterThan(100);
    const switches = ["AllAlpha", "AllBeta"];
    expect(listed.filter((name) => !switches.includes(name) && !featureGateNames.includes(name))).toEqual([]);
  });

  test("S8.3 have no feature gate among the removed ones that the API server knows, which removed all up to its release", async () => {
    const tool = toolNamed("controlplane");
    await ensureTools([tool]);
    const server = (...args: string[]) => run(programPath(tool), ["kube-apiserver", ...args]);
    const { stdout } = await server("--version");
    const minor = Number(/v1\.(\d+)\./.exec(stdout)?.[1]);
    const gates = Object.entries(removals).flatMap(([removed, { gates }]) => (Number(removed) <= minor ? gates : []));
    expect(gates.length).toBeGreaterThan(50);
    for (const gate of gates) {
      const { stderr } = await server(`--feature-gates=${gate}=true`, "--etcd-servers=http://127.0.0.1:1");
      expect(stderr).toContain(`unrecognized feature gate: ${gate}`);
    }
  });

  test("have exactly those CPU types of Proxmox that its plugin accepts and Talos can run on", async () => {
    const failures = await withPlugin("proxmoxve", async (client) => {
      const request = new messages.CheckRequest();
      request.setUrn("urn:pulumi:test::sluice::proxmoxve:index/vmLegacy:VmLegacy::vm");
      request.setNews(struct.Struct.fromJavaScript({ nodeName: "pve", cpu: { type: "none" } }));
      const response = await answer<messages.CheckResponse>((done) => client.check(request, done));
      return response.getFailuresList().map((one) => one.getReason());
    });
    const [, list = ""] = /one of \[(.*?)\]/.exec(failures.join(" ")) ?? [];
    const accepted = [...list.matchAll(/[\w-]+/g)].map(([name]) => name);
    expect(cpus.known.toSorted()).toEqual(accepted.filter((name) => !tooOld.test(name)).toSorted());
  });
});
