import { describe, expect, test } from "@jest/globals";
import { type ProxmoxApi, ProxmoxApiError } from "../../../components/machines/proxmoxApi.ts";
import { diff, type LeaseInputs, operations } from "../../../components/machines/proxmoxLease.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const inputs: LeaseInputs = {
  ...{ node: "cp-1", endpoint: "https://10.0.0.2:8006", insecure: true, token: "the-token", host: "pve", vmId: 300 },
  ...{ mac: "02:68:39:ad:f0:7c", listed: "10.0.0.11", machineId: "300/a", deadline: 60, row: "the-urn" },
};
const ipv4 = (address: string) => ({ "ip-address": address, "ip-address-type": "ipv4", prefix: 16 });
const nic = (mac: string, ...addresses: object[]) => ({ "hardware-address": mac, "ip-addresses": addresses });
const loopback = { name: "lo", ...nic("00:00:00:00:00:00", ipv4("127.0.0.1")) };
const tells = (...interfaces: object[]) => ({ result: [loopback, ...interfaces] });
const off = new ProxmoxApiError("https://10.0.0.2:8006 answers 500 QEMU guest agent is not running", 500);

/** Proxmox that answers so, the last answer again and again. */
function proxmox(...answers: unknown[]) {
  const [asked, said, noted]: [unknown[], string[], string[]] = [[], [], []];
  const clock = new FakeClock();
  const asking = {
    chance: () => 0,
    clock,
    report: (text: string) => said.push(text),
    note: async (text: string) => void noted.push(text),
    get: async ({ token, deadline, ...api }: ProxmoxApi, path: string) => {
      asked.push([api.endpoint, path]);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asking, asked, said, noted, clock };
}

describe("the address of a VM by DHCP", () => {
  test("S4.3 is what the guest agent tells of the NIC with the node's MAC", async () => {
    const { asking, asked } = proxmox(
      tells(nic("02:00:00:00:00:99", ipv4("10.0.0.99")), nic("02:68:39:AD:F0:7C", ipv4("10.0.0.11"))),
    );
    expect(await operations.create(inputs, asking)).toEqual({
      id: inputs.mac,
      outs: { ...inputs, found: "10.0.0.11" },
    });
    expect(asked).toEqual([[inputs.endpoint, "/nodes/pve/qemu/300/agent/network-get-interfaces"]]);
  });

  test("S4.3 is waited for: the agent has to start, the NIC to come up, the server to answer", async () => {
    const { asking, said, clock } = proxmox(
      off,
      tells(),
      tells(nic(inputs.mac)),
      tells(nic(inputs.mac, ipv4("169.254.7.7"), { "ip-address": "fe80::1", "ip-address-type": "ipv6" })),
      tells(nic(inputs.mac, ipv4("10.0.0.11"))),
    );
    expect(await operations.create(inputs, asking)).toMatchObject({ outs: { found: "10.0.0.11" } });
    expect(said).toEqual(
      [
        "https://10.0.0.2:8006 answers 500 QEMU guest agent is not running",
        "its agent tells of no NIC with the MAC 02:68:39:ad:f0:7c",
        "its NIC has no address yet",
        "its NIC has no address yet",
      ].map((why) => `waits for an address by DHCP: ${why}`),
    );
    expect(clock.waits).toEqual([0.5, 0.75, 1.125, 1.6875]);
  });

  test("S4.3 is the listed one where the NIC bears another besides, such as the VIP", async () => {
    const { asking } = proxmox(tells(nic(inputs.mac, ipv4("10.0.0.20"), ipv4("10.0.0.11"))));
    expect(await operations.create(inputs, asking)).toMatchObject({ outs: { found: "10.0.0.11" } });
  });

  test("S4.3 that is another than the listed one is refused at once, with both and the MAC", async () => {
    const { asking, clock } = proxmox(tells(nic(inputs.mac, ipv4("10.0.0.137"))));
    const message = await operations.create(inputs, asking).catch(String);
    expect(message).toContain("SLU-M114 Another address than the one listed");
    expect(message).toContain("where:  cp-1 (VM 300 on pve, MAC 02:68:39:ad:f0:7c)");
    expect(message).toContain("listed address 10.0.0.11");
    expect(message).toContain("seen:   it has 10.0.0.137");
    expect(clock.waits).toEqual([]);
  });

  test("S1.7 that never comes ends within its deadline, with what was seen last and for how long", async () => {
    const { asking, clock } = proxmox(off);
    const message = await operations.create(inputs, asking).catch(String);
    expect(message).toContain("SLU-M113 No address by DHCP");
    expect(message).toContain("QEMU guest agent is not running");
    expect(message).toMatch(/for: {4}(5\d s|1 min 0 s)/);
    expect(clock.now()).toBeLessThanOrEqual(60_000);
    expect(message).not.toContain("the-token");
  });

  test("S1.7 that the token may not ask for is told at once", async () => {
    const refused = new ProxmoxApiError("https://10.0.0.2:8006 answers 403 Permission check failed (/vms/300)", 403);
    const { asking, clock } = proxmox(refused);
    const message = await operations.create(inputs, asking).catch(String);
    expect(message).toContain("SLU-M115");
    expect(message).toContain("Permission check failed (/vms/300)");
    expect(clock.waits).toEqual([]);
  });

  test.each([
    ["says nothing", off],
    ["has no address", tells(nic(inputs.mac))],
    ["is where it was", tells(nic(inputs.mac, ipv4("10.0.0.11")))],
  ])("U3 is kept on refresh where the VM %s", async (_, answer) => {
    const { asking, asked, noted } = proxmox(answer);
    const props = { ...inputs, found: "10.0.0.11" };
    expect(await operations.read("id", props, asking)).toEqual({ id: "id", props });
    expect([asked.length, noted]).toEqual([1, []]);
  });

  test("U3 is another on refresh where the VM has moved, and the next update looks anew", async () => {
    const { asking, noted } = proxmox(tells(nic(inputs.mac, ipv4("10.0.0.137"))));
    const { props } = await operations.read("id", { ...inputs, found: "10.0.0.11" }, asking);
    expect(props.found).toBe("10.0.0.137");
    expect(noted).toEqual(["cp-1 has the address 10.0.0.137 now, not 10.0.0.11"]);
    expect(await diff("id", props, inputs)).toMatchObject({ changes: true });
  });

  test("U2 is compared offline: a VM made anew is asked again, another deadline is nothing", async () => {
    const before = { ...inputs, found: "10.0.0.11" };
    expect(await diff("id", before, { ...inputs, deadline: 5 })).toEqual({ changes: false, replaces: [] });
    expect(await diff("id", before, { ...inputs, machineId: "300/b" })).toEqual({ changes: true, replaces: [] });
    expect(await diff("id", before, { ...inputs, mac: "02:00:00:00:00:01" })).toEqual({
      changes: true,
      replaces: ["mac"],
    });
  });
});
