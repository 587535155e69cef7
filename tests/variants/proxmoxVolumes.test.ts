// A small cluster on Proxmox: what is true on every platform, and volumes: the account that creates them, where they are, and what happens to both.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { proxmoxStorageClass } from "../../components/platform/proxmoxCsiChart.ts";
import { Chain } from "../lab/support/chain.ts";
import { holdsOnEveryPlatform } from "../lab/support/everyPlatform.ts";
import { Proxmox } from "../lab/support/proxmox.ts";

jest.setTimeout(400_000);

const hosts = ["pve", "pve2"];
const proxmoxOf = { endpoint: "https://10.0.0.2:8006", insecure: true, hosts };
const role = "/access/roles/test-csi-storage";
const claimed = (name: string) =>
  [
    { kind: "PersistentVolumeClaim", metadata: { name }, spec: claim },
    { kind: "Pod", metadata: { name }, spec: { containers: [container], volumes: [volumeOf(name)] } },
  ]
    .map((object) => JSON.stringify({ apiVersion: "v1", ...object }))
    .join("\n---\n");
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "3Gi" } } };
const container = { name: "it", image: "pause", volumeMounts: [{ name: "data", mountPath: "/data" }] };
const volumeOf = (claimName: string) => ({ name: "data", persistentVolumeClaim: { claimName } });

describe("volumes of a control plane and a worker on Proxmox", () => {
  let chain: Chain;
  let proxmox: Proxmox;
  beforeAll(async () => {
    chain = await Chain.of({
      ...{ platform: "proxmox", workers: 1, hosts },
      config: {
        // A class that deletes no volume: the gate's own must be deleted all the same.
        proxmox: { ...proxmoxOf, volumes: { reclaimPolicy: "Retain" } },
      },
    });
    proxmox = new Proxmox(chain.lab);
    await chain.up();
  });
  afterAll(() => chain?.down());

  const apply = async (text: string) =>
    chain.kubectl("apply", "--filename", await chain.lab.write("claim.yaml", text), "--namespace", "default");
  /** The volumes that no VM has, and the hosts that they are on. */
  const disks = async () => (await proxmox.left()).filter((line) => line.includes("vm-9999-"));
  const asJson = async (...args: string[]) => JSON.parse(await chain.kubectl("get", ...args, "--output", "json"));

  test("are proven by the CSI gate: one was created, mounted and deleted again, although the class retains volumes (S3.2) [C29]", async () => {
    const { gates } = await chain.outputs();
    expect(gates.CsiReady.evidence).toMatchObject({ drivers: ["csi.proxmox.sinextra.dev"], nodes: ["cp-1", "w-1"] });
    expect(await disks()).toEqual([]);
    expect((await asJson("persistentvolumes")).items).toEqual([]);
  });

  test("are on the host of the node that uses them, which every node's labels name (S4.1)", async () => {
    const { items } = await asJson("nodes");
    const vms = await proxmox.call("GET", "/cluster/resources", { type: "vm" });
    const said = items.map(({ metadata, spec }: { metadata: { labels: object }; spec: object }) => ({
      ...metadata.labels,
      ...spec,
    }));
    for (const { vmid, node } of vms) {
      expect(said).toContainEqual(
        expect.objectContaining({
          "topology.kubernetes.io/region": "proxmox",
          "topology.kubernetes.io/zone": node,
          providerID: `proxmox://proxmox/${vmid}`,
        }),
      );
    }
    await apply(claimed("data"));
    await chain.kubectl("wait", "pod", "data", "--for=condition=Ready", "--timeout=60s");
    const { spec } = await asJson("pod", "data");
    const node = await asJson("node", spec.nodeName);
    const [disk = ""] = await disks();
    expect(disk).toMatch(new RegExp(`^${node.metadata.labels["topology.kubernetes.io/zone"]} local-lvm:vm-9999-pvc-`));
  });

  test("are created by an account with no other privileges", async () => {
    const { items } = await asJson("secrets", "--namespace", "kube-system");
    const secret = items.find(({ metadata }: { metadata: { name: string } }) =>
      metadata.name.startsWith("test-csi-config"),
    );
    const [cluster] = JSON.parse(Buffer.from(secret.data["config.yaml"], "base64").toString()).clusters;
    const driver = new Proxmox(chain.lab, `${cluster.token_id}=${cluster.token_secret}`);
    for (const [method, path] of [
      ["POST", "/nodes/pve/qemu"],
      ["POST", "/access/users"],
      ["DELETE", "/nodes/pve/storage/local/content/local:import/a.qcow2"],
    ] as const) {
      expect(await driver.ask(method, path, { vmid: "900", userid: "a@pve" })).not.toMatchObject({ status: 200 });
    }
    expect(await driver.call("GET", "/nodes/pve/storage")).toMatchObject([{ storage: "local-lvm" }]);
    expect(await driver.call("GET", "/cluster/resources", { type: "vm" })).toHaveLength(2);
  });

  test("have a gate that keeps their token only encrypted", async () => {
    const gate = (await chain.resources()).find(({ name }) => name === "test-csi-ready");
    const encrypted = expect.objectContaining({ ciphertext: expect.any(String) });
    for (const kept of [gate?.inputs, gate?.outputs]) {
      const { secretTriggers } = kept as { secretTriggers: unknown };
      expect([secretTriggers].flat()).toEqual(Array.isArray(secretTriggers) ? [encrypted, encrypted] : [encrypted]);
    }
  });

  test("need a privilege that a refresh finds missing after someone removed it, and the next up restores (U3)", async () => {
    await proxmox.call("PUT", role, { privs: "Datastore.Allocate,Datastore.Audit" });
    await apply(claimed("more"));
    await expect(chain.kubectl("wait", "pod", "more", "--for=condition=Ready", "--timeout=10s")).rejects.toThrow();
    const told = await chain.kubectl("get", "events", "--field-selector", "involvedObject.name=more");
    expect(told).toContain("Permission check failed (/storage/local-lvm, Datastore.AllocateSpace)");
    expect((await chain.run("refresh")).steps).toMatchObject([{ op: "update", name: "test-csi-access-storage" }]);
    expect((await chain.up()).steps).toMatchObject([{ op: "update", name: "test-csi-access-storage" }]);
    await chain.kubectl("wait", "pod", "more", "--for=condition=Ready", "--timeout=120s");
  });

  holdsOnEveryPlatform({
    chain: () => chain,
    added: { name: "w-2", role: "worker", address: "10.0.0.22" },
    remake: async () => {
      const vms: { name: string; vmid: number; node: string }[] = await proxmox.call("GET", "/cluster/resources", {
        type: "vm",
      });
      const { node, vmid } = vms.find(({ name }) => name === "test-w-2") ?? {};
      await proxmox.done("POST", `/nodes/${node}/qemu/${vmid}/status/stop`);
      await proxmox.done("DELETE", `/nodes/${node}/qemu/${vmid}`);
      const refresh = await chain.run("refresh");
      expect(refresh.steps).toContainEqual(expect.objectContaining({ op: "delete", name: "test-w-2" }));
    },
  });

  test("have an immutable class: changing it fails with the reason, and works after it is deleted", async () => {
    chain.configure({ proxmox: { ...proxmoxOf, volumes: { reclaimPolicy: "Delete" } } });
    const refused = await chain.run("up");
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toMatch(/StorageClass.*reclaimPolicy: .*field is immutable/);
    await chain.kubectl("delete", "storageclass", proxmoxStorageClass);
    await chain.up();
    expect(await asJson("storageclass", proxmoxStorageClass)).toMatchObject({ reclaimPolicy: "Delete" });
    expect(await disks()).toHaveLength(2);
  });

  test("outlive the cluster, and the account is deleted with it", async () => {
    expect(await chain.run("destroy")).toMatchObject({ code: 0 });
    expect(await disks()).toHaveLength(2);
    expect((await proxmox.left()).filter((line) => !line.includes("vm-9999-"))).toEqual([]);
    for (const [kind, name] of [
      ["users", "userid"],
      ["roles", "roleid"],
    ] as const) {
      const all = await proxmox.call("GET", `/access/${kind}`);
      expect(all.map((one: Record<string, string>) => one[name])).not.toContainEqual(
        expect.stringMatching(/^test-csi/),
      );
    }
  });
});
