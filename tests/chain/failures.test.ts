// A cluster of three and two on whose way everything goes wrong that can, one after the other: each `up` ends at another gate and says why, and
// once that is mended the next goes on from there. At its end the cluster stands, and nothing was done twice.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { programPaths } from "../../scripts/lab/programs.ts";
import { run } from "../../scripts/workspace/run.ts";
import { Chain } from "../lab/support/chain.ts";
import { commit } from "../lab/support/git.ts";
import { Trouble } from "../lab/support/trouble.ts";

jest.setTimeout(300_000);

/** As long as a stage may take on a busy machine; the gate at which a run is to end waits as long as its test says. */
const patient = {
  ...{ preflight: 60, stages: 90, etcd: 90, services: 60, api: 90, joined: 60, cilium: 90, nodes: 90 },
  ...{ csi: 90, sealedSecrets: 90, gitops: 120 },
};
const install = { disk: "/dev/sda" };
const nodes = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
/** What it takes to configure each node. */
const configured = Object.fromEntries(nodes.map((node) => [`test-${node} config applied`, 1]));

const kubeletFails = (subject: string) => {
  const message = "failed to mount /var/lib/data: no such file or directory";
  return { on: "service", name: "kubelet", subject, do: "fail", message };
};

describe("a cluster of three and two, when something goes wrong (S1.7)", () => {
  let chain: Chain;
  let trouble: Trouble;
  /** A fault that outlives the test that adds it. */
  let ofControlPlane: string;
  beforeAll(async () => {
    const apply = { parallel: "100%", firstDelay: 0.2 };
    chain = await Chain.of({ controlPlanes: 3, workers: 2, config: { timeouts: patient, apply, stableSeconds: 1 } });
    trouble = new Trouble(chain);
  });
  afterAll(() => chain?.down());

  const impatient = (gate: keyof typeof patient, seconds: number) => ({ timeouts: { ...patient, [gate]: seconds } });

  test("a disk selector that matches nothing: every node with the disks it has, and nothing is written (S1.1, S2.6)", async () => {
    const told = await trouble.endsAt("gates:Preflight", { install: { diskSelector: { model: "No such disk" } } });
    const text = told["test-preflight"];
    expect(text).toMatch(
      /^error: Preflight cannot open; seen after \d+ s \(SLU-T202: The disk selector matches no disk\)$/m,
    );
    for (const node of nodes) {
      expect(text).toMatch(
        new RegExp(`^ +${node}: no disk is model 'No such disk'; there is /dev/sda \\(40 GB, `, "m"),
      );
    }
    expect(text).toMatch(/^ +What to do: Set the install disk to one that is there/m);
    expect(trouble.changes).toEqual({});
  });

  test("a config that Talos refuses: in the words of its validator, of every node (S1.5, S1.7-10)", async () => {
    const broken = { machine: { kubelet: { nodeIP: { validSubnets: ["10.0.1.0/33"] } } } };
    const told = await trouble.endsAt("talos:NodeConfiguration", {
      install,
      patches: [{ name: "broken", patch: broken }],
    });
    expect(Object.keys(told).toSorted()).toEqual(nodes.map((node) => `test-${node}`));
    for (const [name, text] of Object.entries(told)) {
      expect(text).toContain("SLU-T201 The machine config is rejected");
      expect(text).toContain(`where:  ${name.replace("test-", "")}, maintenance, after 1 try`);
      expect(text).toContain('kubelet nodeIP subnet is not valid: "10.0.1.0/33"');
      expect(text).toContain("Nothing was changed on the node.");
      expect(text.split("\n").length).toBeLessThanOrEqual(9);
    }
    expect(trouble.changes).toEqual({});
  });

  test("a node that is stuck in a stage, and a kubelet that cannot start (S1.4, S3.4); calls that fail in passing are made again (S1.2, S1.7-6)", async () => {
    const call = { on: "talos", name: "ApplyConfiguration", subject: "test-cp-1", do: "fail" };
    await chain.lab.fault({ ...call, code: "Unavailable", message: "busy", times: 2 });
    const stuck = await chain.lab.fault({ on: "stage", name: "booting", subject: "test-w-2", do: "hold" });
    const kubelet = await chain.lab.fault(kubeletFails("test-w-1"));
    ofControlPlane = await chain.lab.fault(kubeletFails("test-cp-3"));

    const told = await trouble.endsAt("gates:Stages", { patches: [], ...impatient("stages", 10) });
    expect(told["test-cp-1"]).toBe("cp-1 runs its config after 3 tries");
    const text = told["test-stages"];
    expect(text).toMatch(/^error: Stages did not open within 10 s \(SLU-T311: A node is stuck in a stage\)$/m);
    expect(text).toMatch(
      /^ +w-1: is in stage booting, not running; unmet: services: kubelet is Failed \(.*failed to mount \/var\/lib\/data.*\(for \d+ s\)$/m,
    );
    expect(text).toMatch(/^ +w-2: is in stage maintenance, not running.* \(for \d+ s\)$/m);
    expect(text).not.toMatch(/^ +cp-/m);
    expect(text).toMatch(/^ +What to do: /m);
    expect(trouble.changes).toEqual(configured);
    await chain.lab.endFault(stuck);
    await chain.lab.endFault(kubelet);
  });

  test("a member of etcd that stays a learner, and the one that waits for it (S1.7-9); a control plane that dies while it is bootstrapped (S1.7-3)", async () => {
    // Whichever of the two comes first: etcd takes one learner at a time.
    const learner = await chain.lab.fault({ on: "member", name: "promote", do: "hold" });
    // When it is told to bootstrap, and has nothing on its disk yet.
    const first = "test-cp-1";
    await chain.lab.fault({ on: "service", name: "etcd", subject: first, do: "crash", times: 1 });
    const told = await trouble.endsAt("gates:Etcd", impatient("etcd", 25));
    expect(chain.lab.facts.all).toContainEqual(
      expect.objectContaining({ subject: first, what: "power", value: "lost" }),
    );
    const text = told["test-etcd"];
    expect(text).toMatch(/^error: Etcd did not open within 25 s \(SLU-T321: etcd is not whole\)$/m);
    expect(text).toMatch(/^ +cp-[23]: is a learner still: it has not caught up with the leader \(for \d+ s\)$/m);
    expect(text).toMatch(/^ +cp-[23]: is not a member: etcd is not running \(for \d+ s\)$/m);
    expect(text).toMatch(/^ +What to do: See `talosctl etcd members`/m);
    await chain.lab.endFault(learner);
  });

  test("a kubelet that cannot start on a control plane, where the service says why (S3.2)", async () => {
    const text = (await trouble.endsAt("gates:TalosServices", impatient("services", 8)))["test-talos-services"];
    expect(text).toMatch(
      /^error: TalosServices did not open within 8 s \(SLU-T331: Talos services are not healthy\)$/m,
    );
    expect(text).toMatch(/^ +cp-3: kubelet is Failed \(.*failed to mount \/var\/lib\/data.*\) \(for \d+ s\)$/m);
    expect(text).toMatch(/^ +What to do: `talosctl service` and `talosctl logs`/m);
    await chain.lab.endFault(ofControlPlane);
  });

  test("Cilium that is held back on one worker: the worker, and the pod's reason (S3.2, S3.3)", async () => {
    const fault = { on: "pod", name: "kube-system/cilium-*", subject: "w-1", do: "fail", code: "ImagePullBackOff" };
    const held = await chain.lab.fault({ ...fault, message: "connection refused" });
    const text = (await trouble.endsAt("gates:CiliumReady", impatient("cilium", 12)))["test-cilium-ready"];
    expect(text).toMatch(
      /^error: CiliumReady did not open within 12 s \(SLU-K111: Cilium is not ready on every node\)$/m,
    );
    expect(text).toMatch(/^ +w-1: pod cilium-\w+: .*ImagePullBackOff: .*connection refused.* \(for \d+ s\)$/m);
    expect(text).not.toMatch(/^ +(cp-\d|w-2): /m);
    await chain.lab.endFault(held);
  });

  test("a cloud controller that takes no node in: why it does not, and which nodes (S3.2)", async () => {
    const name = "kube-system/hcloud-cloud-controller-manager-*";
    const broken = await chain.lab.fault({
      on: "pod",
      name,
      do: "fail",
      code: "CrashLoopBackOff",
      message: "no token",
    });
    const text = (await trouble.endsAt("gates:NodesReady", impatient("nodes", 10)))["test-nodes-ready"];
    expect(text).toMatch(/^error: NodesReady did not open within 10 s \(SLU-K116: /m);
    expect(text).toMatch(
      /pod hcloud-cloud-controller-manager-\S+: .*CrashLoopBackOff, it ended with 1 \(Error: no token\)/,
    );
    for (const node of nodes) {
      expect(text).toMatch(new RegExp(`^ +${node}: has the taint .*/uninitialized:NoSchedule \\(for`, "m"));
    }
    await chain.lab.endFault(broken);
  });

  test("a volume that is never bound: in the words of the cloud (S3.2)", async () => {
    const full = { on: "cloud", name: "POST /v1/volumes", do: "fail", code: "resource_limit_exceeded" };
    const limit = await chain.lab.fault({ ...full, message: "volume limit exceeded" });
    const text = (await trouble.endsAt("gates:CsiReady", impatient("csi", 12)))["test-csi-ready"];
    expect(text).toMatch(/^error: CsiReady did not open within \d+ s \(SLU-K113: A volume could not be bound\)$/m);
    expect(text).toMatch(/^ +test volume claim: is Pending: ProvisioningFailed: .*volume limit exceeded/m);
    await chain.lab.endFault(limit);
  });

  test("sealed-secrets with a key that it made itself: which it has, and which it should (S3.2, S3.3)", async () => {
    const pod = "kube-system/sealed-secrets-controller-*";
    const held = await chain.lab.fault({ on: "pod", name: pod, do: "hold" });
    const waiting = await trouble.endsAt("gates:SealedSecretsReady", impatient("sealedSecrets", 6));
    expect(waiting["test-sealed-secrets-ready"]).toMatch(/^ +w-\d: pod sealed-secrets-controller-\S+: /m);
    // Somebody takes the key away before the controller has read it.
    const keys = ["--namespace", "kube-system", "--selector", "sealedsecrets.bitnami.com/sealed-secrets-key"];
    const key = await kubectl("get", "secrets", ...keys, "--output", "yaml");
    await kubectl("delete", "secrets", ...keys);
    await chain.lab.endFault(held);

    const told = await trouble.endsAt("gates:SealedSecretsReady", { timeouts: patient });
    const text = told["test-sealed-secrets-ready"];
    expect(text).toMatch(/^error: SealedSecretsReady cannot open; seen after \d+ s \(SLU-K114: /m);
    expect(text).toMatch(
      /^ +Deployment sealed-secrets-controller: its certificate is [0-9A-F:]{95}, not [0-9A-F:]{95}/m,
    );
    expect(text).toMatch(/^ +What to do: .*Delete key secrets that it made itself/m);

    await kubectl("delete", "secrets", ...keys);
    await kubectl("create", "--filename", chain.lab.write("key.yaml", key));
    const controller = ["--namespace", "kube-system", "--selector", "app.kubernetes.io/name=sealed-secrets"];
    await kubectl("delete", "pods", ...controller);
  });

  test("a manifest that cannot be built: in Flux' own words (S3.2)", async () => {
    await commit(chain.lab, "echo '  - absent.yaml' >> apps/kustomization.yaml");
    const text = (await trouble.endsAt("gates:GitOpsReady"))["test-gitops-ready"];
    expect(text).toMatch(/^error: GitOpsReady cannot open; seen after \d+ s \(SLU-K115: GitOps does not reconcile\)$/m);
    expect(text).toMatch(
      /^ +Kustomization apps: BuildFailed: kustomize build failed: .*absent\.yaml: no such file or directory/m,
    );
    expect(text).not.toMatch(/Kustomization flux-system/);
    await commit(chain.lab, "sed -i '/absent/d' apps/kustomization.yaml");
  });

  test("a secret that was sealed for another key: which it is, long before Flux would tell (S3.2, S4.7)", async () => {
    await commit(chain.lab, "sed -i 's/greeting: A.*/greeting: AgAAAAAA/' secrets/greeting.yaml");
    const text = (await trouble.endsAt("gates:GitOpsReady"))["test-gitops-ready"];
    expect(text).toMatch(
      /^error: GitOpsReady cannot open; seen after \d+ s \(SLU-K118: A sealed secret cannot be opened\)$/m,
    );
    expect(text).toMatch(/^ +SealedSecret hello\/greeting: no key could decrypt secret/m);
    await commit(chain.lab, "git checkout --quiet HEAD~1 -- secrets");
  });

  test("comes through in the end, and nothing was done twice (S1.6)", async () => {
    await trouble.comesThrough();
    // The second time, for nothing had come of the first.
    expect(trouble.changes).toEqual({ ...configured, "test-cp-1 bootstrap asked": 2 });
    const { gates } = await chain.outputs();
    expect(gates.NodesReady.evidence.kubelets).toMatchObject({ "cp-3": expect.any(String), "w-1": expect.any(String) });
  });

  test("said no secret in all of that", async () => {
    expect(await trouble.leaks()).toEqual([]);
  });

  /** With the lab's own way in: what hands out a kubeconfig has not come to its end. */
  async function kubectl(...args: readonly string[]): Promise<string> {
    const config = chain.lab.write("admin", (await chain.lab.call("kubeconfig")).stdout);
    const { code, stdout, stderr } = await run(programPaths().kubectl ?? "", ["--kubeconfig", config, ...args]);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }
});
