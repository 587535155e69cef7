// Drift of nodes: caused by hand, found and named by a refresh, and fixed or refused by the next `up`.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";
import { type DriftName, findDrift, noDrift, refused } from "../lab/support/drifts.ts";

jest.setTimeout(300_000);

/** One test may cover several kinds: what one refresh finds together is caused together. */
const named = (...names: readonly [DriftName, ...DriftName[]]) => `U3 ${names.join(", ")}`;

const off = { enabled: false };

describe("nodes that drift", () => {
  let chain: Chain;
  let server: (name: string) => Promise<{ id: number; name: string }>;
  beforeAll(async () => {
    // With an extension there is something to lose.
    const image = { extensions: ["siderolabs/qemu-guest-agent"] };
    const config = { csi: off, flux: off, sealedSecrets: off, image };
    chain = await Chain.of({ controlPlanes: 3, workers: 2, config });
    server = async (name) => (await chain.cloud.call("GET", `/servers?name=test-${name}`)).servers[0];
    await chain.up();
  });
  afterAll(() => chain?.down());

  const act = async (name: string, action: string, body: object = {}) =>
    chain.cloud.call("POST", `/servers/${(await server(name)).id}/actions/${action}`, body);
  const last = () => chain.lab.facts.all.at(-1);
  const runs = (name: string, after = last()) =>
    chain.lab.until({ subject: chain.server(name), what: "stage", value: "running", after });
  const impatient = (timeouts: object) => chain.configure({ timeouts });
  const rebuilt = async (name: string) => {
    const before = last();
    await act(name, "rebuild", { image: await chain.cloud.snapshot("1.13.8") });
    return chain.lab.until({ subject: chain.server(name), what: "stage", value: "maintenance", after: before });
  };

  test(`${named("a node's machine config", "a node without its config", "a machine's settings", "a firewall rule")}: are fixed`, async () => {
    await chain.talosctl("patch", "mc", "--nodes", "10.0.1.21", "--patch", '{"machine":{"sysctls":{"by.hand":"1"}}}');
    await rebuilt("w-2");
    const cp = await server("cp-1");
    await chain.cloud.call("PUT", `/servers/${cp.id}`, {
      labels: { ...labels("cp-1", "controlplane"), strange: "yes" },
    });
    await act("cp-1", "change_protection", { delete: true, rebuild: true });
    const [firewall] = (await chain.cloud.call("GET", "/firewalls")).firewalls;
    const ssh = { direction: "in", protocol: "tcp", port: "22", source_ips: ["0.0.0.0/0"], description: "ssh" };
    await chain.cloud.call("POST", `/firewalls/${firewall.id}/actions/set_rules`, { rules: [...firewall.rules, ssh] });

    const { drifts } = await findDrift(chain);
    expect(drifts).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^firewall test-apis: rules\[\d\] is .*"port":"22"/),
        'node w-1: machine config: machine.sysctls."by.hand" is 1, and should not be there',
        "node w-2: is in maintenance, without a config",
        "server test-cp-1: labels.strange is yes, and should not be there",
        "server test-cp-1: deleteProtection is true, and should be false",
      ]),
    );
    const up = await chain.up();
    expect(up.steps.map(({ op, name }) => `${op} ${name}`)).toEqual(
      expect.arrayContaining(["update test-apis", "update test-cp-1", "update test-w-1", "update test-w-2"]),
    );
    await noDrift(chain);
  });

  test(`${named("another Talos version", "another schematic")}: are found on the nodes, and up --refresh brings these back, without touching the others`, async () => {
    const other = await schematic('customization: { extraKernelArgs: ["quiet=1"] }');
    const image = `factory.talos.dev/hcloud-installer/${other}`;
    const before = last();
    const upgrade = (node: string, to: string) =>
      chain.talosctl("upgrade", "--nodes", node, "--image", to, "--wait=false");
    const [own] = /factory\.talos\.dev\/hcloud-installer\/[0-9a-f]{64}/.exec(await configOf("w-1")) ?? [];
    await upgrade("10.0.1.21", `${own}:v1.12.6`);
    await upgrade("10.0.1.22", `${image}:v1.13.8`);
    await Promise.all([runs("w-1", before), runs("w-2", before)]);

    const { drifts } = await findDrift(chain);
    expect(drifts).toEqual(
      expect.arrayContaining([
        "Talos: w-1 runs Talos 1.12.6, not 1.13.8",
        expect.stringMatching(/^Talos: w-2 runs schematic [0-9a-f]{12}\.\.\., not [0-9a-f]{12}\.\.\.$/),
      ]),
    );
    const installed = () => chain.lab.facts.all.filter(({ what }) => what === "installed");
    const was = installed().length;
    const { steps } = await chain.up();
    expect(steps.map(({ op, type }) => `${op} ${type.split(":").at(-1)}`)).toContain("update TalosUpgrade");
    expect(
      installed()
        .slice(was)
        .map(({ subject, value }) => `${subject} ${value}`),
    ).toEqual(["test-w-1 1.13.8", "test-w-2 1.13.8"]);
    await noDrift(chain);

    const second = last();
    await upgrade("10.0.1.22", "ghcr.io/siderolabs/installer:v1.13.8");
    await runs("w-2", second);
    expect((await findDrift(chain)).drifts).toContainEqual(
      expect.stringMatching(/^Talos: w-2 runs an image without a schematic, as a plain installer leaves it/),
    );
    await chain.up();
    await noDrift(chain);
  });

  test(`${named("a node that is off", "a node that is stuck in a stage", "a missing etcd member")}: are refused, and nothing is dropped from the state`, async () => {
    const kept = (await chain.resources()).map(({ urn }) => urn);
    const stuck = await chain.lab.fault({ on: "stage", name: "booting", subject: "test-w-2", do: "hold" });
    await chain.lab.fault({ on: "machine", subject: "test-w-2", do: "crash", times: 1 });
    await act("w-1", "poweroff");
    const members = await chain.talosctl("etcd", "members", "--nodes", "10.0.1.11");
    const [member = ""] = /\b[0-9a-f]+(?= +cp-3)/.exec(members) ?? [];
    await chain.talosctl("etcd", "remove-member", member, "--nodes", "10.0.1.11");

    const { drifts, unseen } = await findDrift(chain);
    expect(drifts).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^gates? .*Stages.*: w-1: does not answer: /),
        expect.stringMatching(/^gates? .*Stages.*: w-2: /),
        expect.stringMatching(/^gates? .*Etcd.*: cp-3: is not a member/),
      ]),
    );
    expect(unseen).toContainEqual(expect.stringMatching(/^node w-1: does not answer: /));
    expect((await chain.resources()).map(({ urn }) => urn)).toEqual(kept);

    impatient({ preflight: 4, etcd: 6 });
    await refused(chain, "Preflight test-preflight", /w-1: does not answer/);
    const before = last();
    await chain.lab.endFault(stuck);
    await act("w-1", "poweron");
    await Promise.all([runs("w-1", before), runs("w-2", before)]);
    await refused(chain, "Etcd test-etcd", /cp-3: is not a member/, /EPHEMERAL --reboot/);
    const reset = ["reset", "--system-labels-to-wipe", "EPHEMERAL", "--reboot", "--graceful=false", "--wait=false"];
    const gone = last();
    await chain.talosctl(...reset, "--nodes", "10.0.1.13");
    await runs("cp-3", gone);
    impatient({});
    await chain.up();
    await noDrift(chain);
  });

  test(`${named("another machine at the address")}: is refused and never written to; a new machine gets its config`, async () => {
    await chain.lab.fault({ on: "pki", subject: "test-w-2", do: "other", times: 1 });
    const before = last();
    await act("w-2", "rebuild", { image: await chain.cloud.snapshot("1.13.8") });
    // It requires another cluster's certificate, and boots no further than that cluster allows.
    await chain.lab.until({ subject: "test-w-2", what: "api", value: "apid", after: before });
    const { drifts } = await findDrift(chain);
    expect(drifts).toContainEqual(expect.stringMatching(/^node w-2: belongs to another cluster: /));
    const calls = chain.lab.facts.all.length;
    await refused(chain, "Preflight test-preflight", /SLU-T109/, /w-2: /);
    const made = chain.lab.facts.all.slice(calls).filter(({ what }) => what === "call");
    expect(made.filter(({ subject }) => subject === "test-w-2")).toEqual([]);
    await rebuilt("w-2");
    await chain.up();
  });

  test(`${named("a machine that is gone")}: is recreated, and becomes the same node`, async () => {
    await chain.cloud.call("DELETE", `/servers/${(await server("w-1")).id}`);
    const { drifts } = await findDrift(chain);
    expect(drifts).toContain("server test-w-1: is gone");
    await chain.up();
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=30s");
    await noDrift(chain);
  });

  test(`${named("an unexpected etcd member")}: is refused, with the command that removes it`, async () => {
    const [network] = (await chain.cloud.call("GET", "/networks")).networks;
    const [firewall] = (await chain.cloud.call("GET", "/firewalls")).firewalls;
    const { server: unlisted } = await chain.cloud.call("POST", "/servers", {
      name: "unlisted",
      server_type: "cx23",
      location: "fsn1",
      image: await chain.cloud.snapshot("1.13.8"),
      networks: [network.id],
      firewalls: [{ firewall: firewall.id }],
    });
    await chain.lab.until({ subject: "unlisted", what: "stage", value: "maintenance" });
    const config = (await configOf("cp-3")).replaceAll("hostname: cp-3", "hostname: unlisted");
    const file = chain.lab.write("unlisted.yaml", config);
    const { ip } = unlisted.public_net.ipv4;
    await chain.lab.said("talosctl", ["apply-config", "--insecure", "--nodes", ip, "--file", file]);
    await chain.lab.until({ subject: "unlisted", what: "stage", value: "running" });

    const { drifts } = await findDrift(chain);
    expect(drifts).toContainEqual(expect.stringMatching(/^gate Etcd: member [0-9a-f]+: unlisted at https:\/\/10\./));
    const said = await refused(chain, "Etcd test-etcd", /SLU-T323/, /etcd remove-member/);
    const [, id = ""] = /member ([0-9a-f]+): unlisted/.exec(said) ?? [];
    await chain.talosctl("etcd", "remove-member", id, "--nodes", "10.0.1.11");
    await chain.cloud.call("DELETE", `/servers/${unlisted.id}`);
    await chain.kubectl("delete", "node", "unlisted", "--ignore-not-found");
    await chain.up();
  });

  async function configOf(node: string): Promise<string> {
    return (await chain.machineConfigs())[node] ?? "";
  }

  /** Made known to the lab's Image Factory. */
  async function schematic(text: string): Promise<string> {
    const url = "http://192.0.2.20/schematics";
    return JSON.parse(await chain.lab.said("curl", ["--silent", "--show-error", "--data-binary", text, url])).id;
  }
});

const labels = (node: string, role: string) => ({ cluster: "test", node, role });
