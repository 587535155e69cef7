// Each kind of fault, observed with the tools that are affected: it happens, as often as configured, and it ends.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Cloud } from "./support/cloud.ts";
import { Lab } from "./support/lab.ts";
import { Cluster, inMaintenance } from "./support/talos.ts";

jest.setTimeout(240_000);

const talos = "1.13.8";

describe("a call of the cloud", () => {
  let lab: Lab;
  let cloud: Cloud;
  beforeAll(async () => {
    lab = await Lab.up();
    cloud = new Cloud(lab);
  });
  afterAll(() => lab?.down());

  /** The result of a request with curl: its exit code and output. */
  const request = (...options: readonly string[]) =>
    lab.exec("curl", ["--silent", "--write-out", "%{http_code}", ...options, "http://192.0.2.20/versions"]);

  test.each([
    ["refuse", {}, [], 52],
    ["drop", {}, ["--max-time", "1"], 28],
    ["fail", { code: "503", message: "out of order" }, [], 0],
  ])("can %s twice, and then succeeds", async (action, more, options, code) => {
    await lab.fault({ on: "cloud", name: "GET /versions", subject: "factory", do: action, times: 2, ...more });
    for (const _ of [1, 2]) {
      const ended = await request(...options);
      expect(ended.code).toBe(code);
      if (action === "fail") expect(ended.stdout).toBe("out of order\n503");
    }
    expect(await request()).toMatchObject({ code: 0, stdout: expect.stringMatching(/200$/) });
    expect(await faults(lab)).toEqual([]);
  });

  test("can lose its answer after the call took effect: the same call then finds what it made (S5.2)", async () => {
    const key = {
      name: "lost",
      public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Ih8vIRsuuBgh1bGMwCFQRzOFhcCqFqmkVM3vAkyZL",
    };
    await lab.fault({ on: "cloud", name: "POST /v1/ssh_keys", do: "lose", times: 1 });
    await expect(cloud.ask("POST", "/ssh_keys", key)).rejects.toThrow("ended with 52");
    const again = await cloud.ask("POST", "/ssh_keys", key);
    expect(again).toMatchObject({ status: 409, body: { error: { code: "uniqueness_error" } } });
    const { ssh_keys } = await cloud.call("GET", "/ssh_keys?name=lost");
    await cloud.call("DELETE", `/ssh_keys/${ssh_keys[0].id}`);
  });

  test("can be slow", async () => {
    await lab.fault({ on: "cloud", name: "GET /versions", do: "delay", delay: "1500ms", times: 1 });
    expect(await request("--max-time", "1")).toMatchObject({ code: 28 });
    expect(await request("--max-time", "1")).toMatchObject({ code: 0 });
  });

  test("can wait until its fault is removed", async () => {
    const id = await lab.fault({ on: "cloud", name: "GET /versions", do: "hold" });
    const waiting = request();
    await lab.until({ subject: "factory", what: "fault", value: "hold", detail: { rule: id } });
    await lab.endFault(id);
    expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringMatching(/200$/) });
  });

  test("fails with the real API's errors, after the calls that the fault skips", async () => {
    await lab.fault({
      on: "cloud",
      name: "POST /v1/ssh_keys",
      do: "fail",
      code: "resource_limit_exceeded",
      skip: 1,
      times: 1,
    });
    const key = (name: string) => ({ name, public_key: `ssh-ed25519 ${publicKey(name)} ${name}` });
    expect(await cloud.ask("POST", "/ssh_keys", key("one"))).toMatchObject({ status: 201 });
    expect(await cloud.ask("POST", "/ssh_keys", key("two"))).toMatchObject({
      status: 403,
      body: { error: { code: "resource_limit_exceeded" } },
    });
    expect(await cloud.ask("POST", "/ssh_keys", key("two"))).toMatchObject({ status: 201 });
  });

  test("can be made to fail by HTTP from inside the lab, as by its own program", async () => {
    const rule = JSON.stringify({ id: "by-http", on: "cloud", name: "GET /versions", do: "fail", code: "500" });
    const control = "http://192.0.2.2/faults";
    const added = await lab.said("curl", ["--fail", "--silent", "--json", rule, control]);
    expect(JSON.parse(added)).toEqual({ ids: ["by-http"] });
    expect(await request()).toMatchObject({ stdout: expect.stringMatching(/500$/) });
    expect(await faults(lab)).toMatchObject([{ id: "by-http", state: "armed" }]);
    await lab.said("curl", ["--fail", "--silent", "--request", "DELETE", `${control}/by-http`]);
    expect(await request()).toMatchObject({ stdout: expect.stringMatching(/200$/) });
  });

  test("is not affected by an empty rule", async () => {
    const refused = await lab.call("fault", "add", "--on", "clouds", "--do", "fail");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('no kind "clouds"') });
  });
});

describe("a node", () => {
  let lab: Lab;
  let cloud: Cloud;
  let image: number;
  beforeAll(async () => {
    lab = await Lab.up();
    cloud = new Cloud(lab);
    image = await cloud.snapshot(talos);
  });
  afterAll(() => lab?.down());

  test("does not enter a stage that is held, until the fault is removed", async () => {
    const id = await lab.fault({ on: "stage", name: "maintenance", subject: "held", do: "hold" });
    await cloud.server("held", { image });
    await lab.until({ subject: "held", what: "fault", value: "hold", detail: { rule: id } });
    const stages = () => lab.facts.all.filter(({ subject, what }) => subject === "held" && what === "stage");
    expect(stages().map(({ value }) => value)).not.toContain("maintenance");
    await lab.endFault(id);
    await lab.until({ subject: "held", what: "stage", value: "maintenance" });
  });

  test("loses its power at a stage, and boots again", async () => {
    const id = await lab.fault({ on: "stage", name: "maintenance", subject: "crashing", do: "crash", times: 1 });
    const server = await cloud.server("crashing", { image });
    await lab.until({ subject: "crashing", what: "fault", value: "crash", detail: { rule: id } });
    const lost = await lab.until({ subject: "crashing", what: "power", value: "lost" });
    await inMaintenance(lab, "crashing", lost);
    expect(await lab.exec("talosctl", ["get", "disks", "--insecure", "--nodes", server.address])).toMatchObject({
      code: 0,
    });
  });

  test("loses its power while it runs, and boots again", async () => {
    await cloud.server("unlucky", { image });
    await inMaintenance(lab, "unlucky");
    await lab.fault({ on: "machine", subject: "unlucky", do: "crash", times: 1 });
    const lost = await lab.until({ subject: "unlucky", what: "power", value: "lost" });
    await inMaintenance(lab, "unlucky", lost);
  });

  test("misses a disk, and has it again at the next boot", async () => {
    await lab.fault({ on: "disk", name: "/dev/sda", subject: "diskless", do: "absent", times: 1 });
    const server = await cloud.server("diskless", { image });
    const disks = () => lab.said("talosctl", ["get", "disks", "--insecure", "--nodes", server.address]);
    const before = await inMaintenance(lab, "diskless");
    expect(await disks()).not.toMatch(/ sda /);
    await cloud.call("POST", `/servers/${server.id}/actions/reset`);
    await inMaintenance(lab, "diskless", before);
    expect(await disks()).toMatch(/ sda /);
  });

  test("belongs to another cluster", async () => {
    await lab.fault({ on: "pki", subject: "foreign", do: "other", times: 1 });
    const server = await cloud.server("foreign", { image });
    await lab.until({ subject: "foreign", what: "api", value: "apid" });
    const { code, stderr } = await lab.exec("talosctl", ["version", "--insecure", "--nodes", server.address]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/tls: certificate required|broken pipe|connection reset by peer/);
    await cloud.delete(server);
    await cloud.server("foreign", { image });
    await inMaintenance(lab, "foreign");
  });
});

describe("in a cluster with a fault", () => {
  let lab: Lab;
  let cluster: Cluster;
  beforeAll(async () => {
    lab = await Lab.up({ scenario });
    cluster = await Cluster.servers(lab, { talos, controlPlanes: 1, workers: 2 });
  });
  afterAll(() => lab?.down());

  const version = (...options: readonly string[]) => cluster.talosctl(cluster.first, ["version", ...options]);

  test("a Talos call fails with the code and the text of the fault", async () => {
    const node = cluster.first;
    const rule = { on: "talos", name: "ApplyConfiguration", subject: node.name, times: 1 };
    await lab.fault({ ...rule, do: "fail", code: "Unavailable", message: "not now" });
    const args = ["apply-config", "--file", cluster.configOf(node)];
    expect(await cluster.insecure(node, ...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("rpc error: code = Unavailable desc = not now"),
    });
    expect(await cluster.insecure(node, ...args)).toMatchObject({ code: 0 });
  });

  test("a service is held by the scenario from the start, and released when the scenario says so", async () => {
    const held = {
      subject: cluster.first.name,
      what: "fault",
      value: "hold",
      detail: { on: "service", name: "kubelet" },
    };
    await lab.until(held);
    await cluster.bootstrap();
    expect(lab.facts.all.map(({ what }) => what)).not.toContain("kubelet");
    await cluster.apply(cluster.worker);
    for (const node of [cluster.worker, cluster.first]) {
      await lab.until({ subject: node.name, what: "kubelet", value: "registered" });
    }
  });

  test.each([
    ["refuse", "Unavailable"],
    ["fail", "ResourceExhausted"],
  ])("a Talos call can %s", async (action, code) => {
    const more = action === "fail" ? { code, message: "too much" } : {};
    await lab.fault({ on: "talos", name: "Version", do: action, times: 1, ...more });
    const ended = await version();
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`code = ${code}`),
    });
    expect(await version()).toMatchObject({ code: 0 });
  });

  test("a Talos call that is dropped gets no answer", async () => {
    await lab.fault({ on: "talos", name: "Version", do: "drop", times: 1 });
    expect(await lab.exec("timeout", ["2", "talosctl", ...talosOptions(cluster), "version"])).toMatchObject({
      code: 124,
    });
    expect(await version()).toMatchObject({ code: 0 });
  });

  test("a Kubernetes call fails, and then succeeds", async () => {
    await cluster.fetchKubeconfig();
    const rule = { on: "kube", name: "GET /api/v1/namespaces/default", times: 1 };
    await lab.fault({ ...rule, do: "fail", code: "403", message: "not you" });
    await expect(cluster.kubectl("get", "namespace", "default")).rejects.toThrow("not you");
    expect(await cluster.kubectl("get", "namespace", "default", "--output", "name")).toBe("namespace/default\n");
  });

  test("a connection to Kubernetes is refused, and the next one is not", async () => {
    // Not with kubectl, which itself retries after a reset connection.
    const url = `https://${cluster.first.address}:6443/api/v1/namespaces/default`;
    const call = () => lab.exec("curl", ["--insecure", "--silent", url]);
    const id = await lab.fault({ on: "kube", name: "GET /api/v1/namespaces/default", do: "refuse", times: 1 });
    expect(await call()).not.toMatchObject({ code: 0 });
    await lab.until({ what: "fault", value: "refuse", detail: { rule: id } });
    expect(await call()).toMatchObject({ code: 0 });
  });

  test("a call to Kubernetes takes effect and its answer is lost, and the next one finds what it made (S5.2)", async () => {
    await lab.fault({ on: "kube", name: "POST /api/v1/namespaces", do: "lose", times: 1 });
    await expect(cluster.kubectl("create", "namespace", "lost")).rejects.toThrow("ended with 1");
    expect(await cluster.kubectl("get", "namespace", "lost", "--output", "name")).toBe("namespace/lost\n");
  });

  test("a node cannot register, and registers when the fault is removed", async () => {
    const [, late] = cluster.workers;
    if (late === undefined) throw new Error("no second worker");
    const id = await lab.fault({ on: "node", name: "register", subject: late.name, do: "hold" });
    await cluster.apply(late);
    await lab.until({ subject: late.name, what: "fault", value: "hold", detail: { rule: id } });
    expect(await cluster.kubectl("get", "nodes", "--output", "name")).not.toContain(late.name);
    await lab.endFault(id);
    await lab.until({ subject: late.name, what: "kubelet", value: "registered" });
  });

  test("a node without a lease is not Ready for Kubernetes, and is Ready again when it has one", async () => {
    const node = `node/${cluster.worker.name}`;
    await cluster.kubectl("wait", node, "--for=condition=Ready", "--timeout=60s");
    const id = await lab.fault({ on: "node", name: "lease", subject: cluster.worker.name, do: "drop" });
    await cluster.kubectl("wait", node, "--for=condition=Ready=Unknown", "--timeout=90s");
    await lab.endFault(id);
    await cluster.kubectl("wait", node, "--for=condition=Ready", "--timeout=60s");
  });

  test("a pod is held before it is Ready, and released", async () => {
    const id = await lab.fault({ on: "pod", name: "default/held*", do: "hold" });
    await cluster.kubectl("run", "held", "--image=held:1");
    await lab.until({ what: "fault", value: "hold", detail: { rule: id } });
    expect(await cluster.kubectl("get", "pod", "held", "--output=jsonpath={.status.phase}")).toBe("Pending");
    await lab.endFault(id);
    await cluster.kubectl("wait", "pod/held", "--for=condition=Ready", "--timeout=60s");
  });

  test("a pod fails with a reason, and is Ready when the fault is over", async () => {
    const id = await lab.fault({ on: "pod", name: "default/failing*", do: "fail", code: "ImagePullBackOff" });
    await cluster.kubectl("run", "failing", "--image=failing:1");
    const reason = "{.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff";
    await cluster.kubectl("wait", "pod/failing", `--for=jsonpath=${reason}`, "--timeout=60s");
    await lab.endFault(id);
    await cluster.kubectl("wait", "pod/failing", "--for=condition=Ready", "--timeout=60s");
  });
});

/** A scenario that waits for its moments: the kubelet of the first control plane, from boot until there is a cluster. */
const scenario = `
- on: service
  name: kubelet
  subject: cp-1
  do: hold
  until: { subject: w-1, what: stage, value: running }
`;

async function faults(lab: Lab): Promise<unknown[]> {
  const { code, stdout, stderr } = await lab.call("fault", "list");
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** A useless key in OpenSSH's format, a different one for each name. */
function publicKey(name: string): string {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  return Buffer.concat([field(Buffer.from("ssh-ed25519")), field(Buffer.alloc(32, name))]).toString("base64");
}

function talosOptions({ talosconfig, first }: Cluster): string[] {
  return ["--talosconfig", talosconfig, "--endpoints", first.address, "--nodes", first.address];
}
