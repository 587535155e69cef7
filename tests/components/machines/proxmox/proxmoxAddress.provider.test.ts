import { describe, expect, test } from "@jest/globals";
import { ApiError } from "../../../../components/api/apiError.ts";
import type { ProxmoxApi } from "../../../../components/api/proxmoxApi.ts";
import { type LeaseInputs, operations } from "../../../../components/machines/proxmox/proxmoxAddress.provider.ts";
import { FakeClock } from "../../talos/fakeClock.ts";

const inputs: LeaseInputs = {
  ...{ node: "cp-1", apiUrl: "https://10.0.0.2:8006", insecure: true, token: "the-token", host: "pve", vmId: 300 },
  ...{ mac: "02:68:39:ad:f0:7c", listed: "10.0.0.11", machineId: "300/a", deadlineSeconds: 60, row: "the-urn" },
};
const ipv4 = (address: string) => ({ "ip-address": address, "ip-address-type": "ipv4", prefix: 16 });
const nic = (mac: string, ...addresses: object[]) => ({ "hardware-address": mac, "ip-addresses": addresses });
const loopback = { name: "lo", ...nic("00:00:00:00:00:00", ipv4("127.0.0.1")) };
const tells = (...interfaces: object[]) => ({ result: [loopback, ...interfaces] });
const off = new ApiError("https://10.0.0.2:8006 answers 500 QEMU guest agent is not running", 500);

/** A Proxmox API with these answers, the last one repeated. */
function proxmox(...answers: unknown[]) {
  const [asked, said, noted]: [unknown[], string[], string[]] = [[], [], []];
  const clock = new FakeClock();
  const asking = {
    random: () => 0,
    clock,
    report: (text: string) => said.push(text),
    note: async (text: string) => void noted.push(text),
    get: async ({ token, deadlineSeconds, ...api }: ProxmoxApi, path: string) => {
      asked.push([api.apiUrl, path]);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asking, asked, said, noted, clock };
}

describe("the DHCP address of a VM", () => {
  test("S4.3 is what the guest agent reports for the NIC with the node's MAC", async () => {
    const { asking, asked } = proxmox(
      tells(nic("02:00:00:00:00:99", ipv4("10.0.0.99")), nic("02:68:39:AD:F0:7C", ipv4("10.0.0.11"))),
    );
    expect(await operations.create(inputs, asking)).toEqual({ ...inputs, found: "10.0.0.11" });
    expect(operations.id(inputs)).toBe(inputs.mac);
    expect(asked).toEqual([[inputs.apiUrl, "/nodes/pve/qemu/300/agent/network-get-interfaces"]]);
  });

  test("S4.3 is waited for until the agent has started, the NIC is up and the server has answered", async () => {
    const { asking, said, clock } = proxmox(
      off,
      tells(),
      tells(nic(inputs.mac)),
      tells(nic(inputs.mac, ipv4("169.254.7.7"), { "ip-address": "fe80::1", "ip-address-type": "ipv6" })),
      tells(nic(inputs.mac, ipv4("10.0.0.11"))),
    );
    expect(await operations.create(inputs, asking)).toMatchObject({ found: "10.0.0.11" });
    expect(said).toEqual(
      [
        "https://10.0.0.2:8006 answers 500 QEMU guest agent is not running",
        "its agent reports no NIC with the MAC 02:68:39:ad:f0:7c",
        "its NIC has no address yet",
        "its NIC has no address yet",
      ].map((why) => `waits for an address by DHCP: ${why}`),
    );
    expect(clock.waits).toEqual([0.5, 0.75, 1.125, 1.6875]);
  });

  test("S4.3 is the configured one if the NIC has others too, such as the VIP", async () => {
    const { asking } = proxmox(tells(nic(inputs.mac, ipv4("10.0.0.20"), ipv4("10.0.0.11"))));
    expect(await operations.create(inputs, asking)).toMatchObject({ found: "10.0.0.11" });
  });

  test("S4.3 is refused at once if it is not the configured one, with both and the MAC", async () => {
    const { asking, clock } = proxmox(tells(nic(inputs.mac, ipv4("10.0.0.137"))));
    const message = await operations.create(inputs, asking).catch(String);
    expect(message).toContain("SLU-M114 The VM's DHCP address is not the configured one");
    expect(message).toContain("where:      cp-1 (VM 300 on pve, MAC 02:68:39:ad:f0:7c)");
    expect(message).toContain("listed address 10.0.0.11");
    expect(message).toContain("seen:       it has 10.0.0.137");
    expect(clock.waits).toEqual([]);
  });

  test("S1.7 is missing at the deadline with the last observation and for how long [C17]", async () => {
    const { asking, clock } = proxmox(off);
    const message = await operations.create(inputs, asking).catch(String);
    expect(message).toContain("SLU-M113 The VM got no DHCP address");
    expect(message).toContain("QEMU guest agent is not running");
    expect(message).toMatch(/for: {8}(5\d s|1 min 0 s)/);
    expect(clock.now()).toBeLessThanOrEqual(60_000);
    expect(message).not.toContain("the-token");
  });

  test("S1.7 fails at once if the token may not read it", async () => {
    const refused = new ApiError("https://10.0.0.2:8006 answers 403 Permission check failed (/vms/300)", 403);
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
  ])("U3 is kept on refresh if the VM %s", async (_, answer) => {
    const { asking, asked, noted } = proxmox(answer);
    const props = { ...inputs, found: "10.0.0.11" };
    expect(await operations.read(props, asking)).toEqual(props);
    expect([asked.length, noted]).toEqual([1, []]);
  });

  test("U3 differs on refresh if it has changed, and the next update reads it again", async () => {
    const { asking, noted } = proxmox(tells(nic(inputs.mac, ipv4("10.0.0.137"))));
    const props = await operations.read({ ...inputs, found: "10.0.0.11" }, asking);
    expect(props.found).toBe("10.0.0.137");
    expect(noted).toEqual(["cp-1 has the address 10.0.0.137 now, not 10.0.0.11"]);
    expect(operations.difference(props, inputs)).toEqual({ kind: "update" });
  });

  test("U2 is compared offline: it is read again for a recreated VM, and not for another deadline", () => {
    const before = { ...inputs, found: "10.0.0.11" };
    const { difference } = operations;
    expect(difference(before, { ...inputs, deadlineSeconds: 5 })).toEqual({ kind: "none" });
    expect(difference(before, { ...inputs, machineId: "300/b" })).toEqual({ kind: "update" });
    expect(difference(before, { ...inputs, mac: "02:00:00:00:00:01" })).toEqual({ kind: "replace", keys: ["mac"] });
  });
});
