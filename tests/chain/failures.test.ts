// A cluster of three control planes and two workers with one fault after another: each `up` ends at another gate and reports why, and
// once that is fixed the next resumes from there. In the end the cluster is up, and nothing was done twice.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { run } from "../../scripts/base/run.ts";
import { programPaths } from "../../scripts/lab/programs.ts";
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

describe("a cluster of three control planes and two workers with injected faults (S1.7)", () => {
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

  test("reports a disk selector without a match for every node, with its disks, before anything is written (S1.1, S2.6, S1.7(2)) [C37]", async () => {
    const told = await trouble.endsAt("gates:Preflight", { install: { diskSelector: { model: "No such disk" } } });
    const text = told["test-preflight"];
    expect(text).toMatch(/^error: SLU-T202 The disk selector matches no disk: gate Preflight failed after \d+ s$/m);
    for (const node of nodes) {
      expect(text).toMatch(
        new RegExp(`^ +(?:seen: +)?${node}: no disk is model 'No such disk'; there is /dev/sda \\(40 GB, `, "m"),
      );
    }
    expect(text).toMatch(/^ +what to do: Set the install disk to one of the listed disks/m);
    expect(trouble.changes).toEqual({});
  });

  test("reports a config that Talos rejects in its validator's words, for every node (S1.5, S1.7(10))", async () => {
    const broken = { machine: { kubelet: { nodeIP: { validSubnets: ["10.0.1.0/33"] } } } };
    const told = await trouble.endsAt("talos:AppliedMachineConfig", {
      install,
      patches: [{ name: "broken", patch: broken }],
    });
    expect(Object.keys(told).toSorted()).toEqual(nodes.map((node) => `test-${node}`));
    for (const [name, text] of Object.entries(told)) {
      expect(text).toContain("SLU-T201 The node rejected its machine config");
      expect(text).toContain(`where:      ${name.replace("test-", "")}, maintenance, after 1 attempt`);
      expect(text).toContain('kubelet nodeIP subnet is not valid: "10.0.1.0/33"');
      expect(text).toContain("Nothing was changed on the node.");
      expect(text.split("\n").length).toBeLessThanOrEqual(9);
    }
    expect(trouble.changes).toEqual({});
  });

  test("names a node that is stuck in a stage and a kubelet that cannot start (S1.4, S3.4), and retries calls that fail transiently (S1.2, S1.7(6)) [C5]", async () => {
    const call = { on: "talos", name: "ApplyConfiguration", subject: "test-cp-1", do: "fail" };
    await chain.lab.fault({ ...call, code: "Unavailable", message: "busy", times: 2 });
    const stuck = await chain.lab.fault({ on: "stage", name: "booting", subject: "test-w-2", do: "hold" });
    const kubelet = await chain.lab.fault(kubeletFails("test-w-1"));
    ofControlPlane = await chain.lab.fault(kubeletFails("test-cp-3"));

    const told = await trouble.endsAt("gates:Stages", { patches: [], ...impatient("stages", 10) });
    expect(told["test-cp-1"]).toBe("cp-1 runs its config after 3 attempts");
    const text = told["test-stages"];
    expect(text).toMatch(/^error: SLU-T311 A node is stuck in a stage: gate Stages did not open within 10 s$/m);
    expect(text).toMatch(
      /^ +(?:seen: +)?w-1: is in stage booting, not running; unmet: services: kubelet is Failed \(.*failed to mount \/var\/lib\/data.*\(for \d+ s\)$/m,
    );
    expect(text).toMatch(/^ +(?:seen: +)?w-2: is in stage maintenance, not running.* \(for \d+ s\)$/m);
    expect(text).not.toMatch(/^ +(?:seen: +)?cp-/m);
    expect(text).toMatch(/^ +what to do: /m);
    expect(trouble.changes).toEqual(configured);
    await chain.lab.endFault(stuck);
    await chain.lab.endFault(kubelet);
  });

  test("names an etcd member that stays a learner and the one that waits for it (S1.7(9)), long before the gate's timeout (S5.5), after a control plane crashed during bootstrap (S1.7(3)) [C37]", async () => {
    // Whichever of the two comes first: etcd takes one learner at a time.
    const learner = await chain.lab.fault({ on: "member", name: "promote", do: "hold" });
    // When bootstrap is called on it, and it has nothing on its disk yet.
    const first = "test-cp-1";
    await chain.lab.fault({ on: "service", name: "etcd", subject: first, do: "crash", times: 1 });
    const told = await trouble.endsAt("gates:Etcd", { stallSeconds: 15 });
    expect(chain.lab.facts.all).toContainEqual(
      expect.objectContaining({ subject: first, what: "power", value: "lost" }),
    );
    const text = told["test-etcd"];
    expect(text).toMatch(/^error: SLU-T321 etcd is incomplete or unhealthy: gate Etcd gave up early, after \d+ s$/m);
    expect(text).toMatch(
      /^ +(?:seen: +)?cp-[23]: is still a learner: it has caught up with the leader, and is not promoted \(for \d+ s\)$/m,
    );
    expect(text).toMatch(/^ +(?:seen: +)?cp-[23]: is not a member: etcd is not running \(for \d+ s\)$/m);
    expect(text).toMatch(/^ +what to do: Check `talosctl --nodes <address> etcd members`/m);
    await chain.lab.endFault(learner);
  });

  test("names a control plane whose kubelet cannot start, with the service's reason (S3.2)", async () => {
    const text = (await trouble.endsAt("gates:TalosServices", { stallSeconds: 60, ...impatient("services", 8) }))[
      "test-talos-services"
    ];
    expect(text).toMatch(
      /^error: SLU-T331 Talos services are not healthy: gate TalosServices did not open within 8 s$/m,
    );
    expect(text).toMatch(
      /^ +(?:seen: +)?cp-3: kubelet is Failed \(.*failed to mount \/var\/lib\/data.*\) \(for \d+ s\)$/m,
    );
    expect(text).toMatch(/^ +log: +cp-3, (?:kubelet|machined):\n(?: +.+\n){1,4} +cause: /m);
    expect(text).toMatch(
      /^ +what to do: Check `talosctl --nodes <address> service` and `talosctl --nodes <address> logs/m,
    );
    await chain.lab.endFault(ofControlPlane);
  });

  test("names the worker on which Cilium is not ready, with the pod's reason (S3.2, S3.3) [C5]", async () => {
    const fault = { on: "pod", name: "kube-system/cilium-*", subject: "w-1", do: "fail", code: "ImagePullBackOff" };
    const held = await chain.lab.fault({ ...fault, message: "connection refused" });
    const text = (await trouble.endsAt("gates:CiliumReady", impatient("cilium", 12)))["test-cilium-ready"];
    expect(text).toMatch(
      /^error: SLU-K111 Cilium is not ready on every node: gate CiliumReady did not open within 12 s$/m,
    );
    expect(text).toMatch(
      /^ +(?:seen: +)?w-1: pod cilium-\w+: .*ImagePullBackOff: .*connection refused.* \(for \d+ s\)$/m,
    );
    expect(text).not.toMatch(/^ +(?:seen: +)?(cp-\d|w-2): /m);
    await chain.lab.endFault(held);
  });

  test("names the worker whose pods cannot reach the API through Cilium, and leaves no test pod behind (S3.2, S3.3) [C5]", async () => {
    const broken = await chain.lab.fault({ on: "datapath", name: "*:443", subject: "w-2", do: "drop" });
    const text = (await trouble.endsAt("gates:CiliumReady", impatient("cilium", 10)))["test-cilium-ready"];
    expect(text).toMatch(
      /^error: SLU-K120 Pods cannot reach the Kubernetes API through Cilium: gate CiliumReady did not open within \d+ s$/m,
    );
    expect(text).toMatch(
      /^ +seen: +w-2: pods there cannot connect to the API by its Service address: no answer within 5 s \(for \d+ s\)$/m,
    );
    expect(text).not.toMatch(/^ +(?:seen: +)?(cp-\d|w-1): /m);
    const daemonSets = await kubectl("--namespace", "kube-system", "get", "daemonsets", "--output", "name");
    expect(daemonSets).not.toContain("sluice");
    await chain.lab.endFault(broken);
  });

  test("names the nodes that the cloud controller does not initialize, with the reason (S3.2)", async () => {
    const name = "kube-system/hcloud-cloud-controller-manager-*";
    const broken = await chain.lab.fault({
      on: "pod",
      name,
      do: "fail",
      code: "CrashLoopBackOff",
      message: "no token",
    });
    const text = (await trouble.endsAt("gates:NodesReady", impatient("nodes", 10)))["test-nodes-ready"];
    expect(text).toMatch(/^error: SLU-K116 .*: gate NodesReady did not open within 10 s$/m);
    expect(text).toMatch(
      /pod hcloud-cloud-controller-manager-\S+: .*CrashLoopBackOff, it ended with 1 \(Error: no token\)/,
    );
    for (const node of nodes) {
      expect(text).toMatch(new RegExp(`^ +(?:seen: +)?${node}: has the taint .*/uninitialized:NoSchedule \\(for`, "m"));
    }
    await chain.lab.endFault(broken);
  });

  const pod = "kube-system/sealed-secrets-controller-*";
  let held: string;

  test("reports a volume that is never bound in the cloud's words, and beside it a sealed-secrets controller that does not start (S3.2) [C29]", async () => {
    held = await chain.lab.fault({ on: "pod", name: pod, do: "hold" });
    const full = { on: "cloud", name: "POST /v1/volumes", do: "fail", code: "resource_limit_exceeded" };
    const limit = await chain.lab.fault({ ...full, message: "volume limit exceeded" });
    const told = await trouble.endsAt(["gates:CsiReady", "gates:SealedSecretsReady"], {
      timeouts: { ...patient, csi: 12, sealedSecrets: 6 },
    });
    expect(told["test-sealed-secrets-ready"]).toMatch(/^ +(?:seen: +)?w-\d: pod sealed-secrets-controller-\S+: /m);
    const text = told["test-csi-ready"];
    expect(text).toMatch(
      /^error: SLU-K113 A test volume could not be bound: gate CsiReady did not open within \d+ s$/m,
    );
    expect(text).toMatch(/^ +(?:seen: +)?test volume claim: is Pending: ProvisioningFailed: .*volume limit exceeded/m);
    await chain.lab.endFault(limit);
  });

  test("reports a sealed-secrets controller that generated its own key, with both keys (S3.2, S3.3)", async () => {
    // Someone removes the key before the controller has read it.
    const keys = ["--namespace", "kube-system", "--selector", "sealedsecrets.bitnami.com/sealed-secrets-key"];
    const key = await kubectl("get", "secrets", ...keys, "--output", "yaml");
    await kubectl("delete", "secrets", ...keys);
    await chain.lab.endFault(held);

    const told = await trouble.endsAt("gates:SealedSecretsReady", { timeouts: patient });
    const text = told["test-sealed-secrets-ready"];
    expect(text).toMatch(/^error: SLU-K114 .*: gate SealedSecretsReady failed after \d+ s$/m);
    expect(text).toMatch(
      /^ +(?:seen: +)?Deployment sealed-secrets-controller: its certificate is [0-9A-F:]{95}, not [0-9A-F:]{95}/m,
    );
    expect(text).toMatch(/^ +what to do: .*Delete key secrets that it made itself/m);

    await kubectl("delete", "secrets", ...keys);
    await kubectl("create", "--filename", chain.lab.write("key.yaml", key));
    const controller = ["--namespace", "kube-system", "--selector", "app.kubernetes.io/name=sealed-secrets"];
    await kubectl("delete", "pods", ...controller);
  });

  test("reports a manifest that cannot be built in Flux' own words (S3.2)", async () => {
    await commit(chain.lab, "echo '  - absent.yaml' >> apps/kustomization.yaml");
    const text = (await trouble.endsAt("gates:GitOpsReady"))["test-gitops-ready"];
    expect(text).toMatch(/^error: SLU-K115 GitOps does not reconcile: gate GitOpsReady failed after \d+ s$/m);
    expect(text).toMatch(
      /^ +(?:seen: +)?Kustomization apps: BuildFailed: kustomize build failed: .*absent\.yaml: no such file or directory/m,
    );
    expect(text).not.toMatch(/Kustomization flux-system/);
    await commit(chain.lab, "sed -i '/absent/d' apps/kustomization.yaml");
  });

  test("names a SealedSecret for another key, long before Flux would report it (S3.2, S4.7)", async () => {
    await commit(chain.lab, "sed -i 's/greeting: A.*/greeting: AgAAAAAA/' secrets/greeting.yaml");
    const text = (await trouble.endsAt("gates:GitOpsReady"))["test-gitops-ready"];
    expect(text).toMatch(/^error: SLU-K118 A SealedSecret cannot be decrypted: gate GitOpsReady failed after \d+ s$/m);
    expect(text).toMatch(/^ +(?:seen: +)?SealedSecret hello\/greeting: no key could decrypt secret/m);
    await commit(chain.lab, "git checkout --quiet HEAD~1 -- secrets");
  });

  test("comes up in the end, with nothing done twice (S1.6) [C37]", async () => {
    await trouble.comesThrough();
    // Once more, because the first had no effect.
    expect(trouble.changes).toEqual({ ...configured, "test-cp-1 bootstrap asked": 2 });
    const { gates } = await chain.outputs();
    expect(gates.NodesReady.evidence.kubelets).toMatchObject({ "cp-3": expect.any(String), "w-1": expect.any(String) });
  });

  test("has printed no secret in any of these runs", async () => {
    expect(await trouble.leaks()).toEqual([]);
  });

  /** With the lab's own credentials: the stage that provides a kubeconfig has not completed. */
  async function kubectl(...args: readonly string[]): Promise<string> {
    const config = chain.lab.write("admin", (await chain.lab.call("kubeconfig")).stdout);
    const { code, stdout, stderr } = await run(programPaths().kubectl ?? "", ["--kubeconfig", config, ...args]);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }
});
