import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { MachineEntries } from "../../../components/machines/machineChange.ts";
import { standingMachines } from "../../../components/machines/standingMachines.ts";
import { certificates } from "../kubernetes/certificates.ts";

const entries: MachineEntries = {
  "cp-1": { role: "controlplane", address: "10.0.0.11", reach: "cp.example.org", vmId: 300 },
  "w-1": { role: "worker", address: "10.0.0.21", vmId: 303 },
  "w-2": { role: "worker", address: "10.0.0.22", vmId: 304 },
};
const server = (name: string, more: object = {}) => ({
  name,
  server_type: { name: "cx23" },
  location: { name: "fsn1" },
  public_net: { ipv4: { ip: `address of ${name}` } },
  ...more,
});

describe("the machines that there are", () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test("are at Hetzner the servers of the cluster, all pages of them, with type, location and public address", async () => {
    const asked: string[] = [];
    const pages = [
      { servers: [server("dev-cp-1"), server("another")], meta: { pagination: { next_page: 2 } } },
      {
        servers: [server("dev-w-1", { location: undefined, datacenter: { location: { name: "nbg1" } } })],
        meta: { pagination: { next_page: null } },
      },
    ];
    jest.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
      asked.push(new URL(String(url)).search);
      return Response.json(pages.shift());
    });
    const place = { kind: "hetzner", cluster: "dev" } as const;
    expect(await standingMachines({ place, token: "the-token", entries })).toEqual({
      "cp-1": { endpoint: "address of dev-cp-1", serverType: "cx23", location: "fsn1" },
      "w-1": { endpoint: "address of dev-w-1", serverType: "cx23", location: "nbg1" },
    });
    expect(asked).toEqual(["?per_page=50&page=1", "?per_page=50&page=2"]);
  });

  test("are on Proxmox the VMs of those names, with their ids, at the addresses of the list", async () => {
    const { key, cert } = certificates.server;
    const vms = [
      { vmid: 300, name: "home-cp-1" },
      { vmid: 999, name: "home-cp-1" },
      { vmid: 403, name: "home-w-1" },
      { vmid: 304, name: "another" },
    ];
    const asked: unknown[] = [];
    const api = createServer({ key, cert }, ({ url }, response) => {
      asked.push(url);
      response.end(JSON.stringify({ data: vms }));
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    const endpoint = `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const place = { kind: "proxmox", cluster: "home", endpoint, insecure: true } as const;
    expect(await standingMachines({ place, token: "u@pve!t=secret", entries })).toEqual({
      "cp-1": { endpoint: "10.0.0.11", vmId: 300 },
      "w-1": { endpoint: "10.0.0.21", vmId: 403 },
    });
    expect(asked).toEqual(["/api2/json/cluster/resources?type=vm"]);
    api.closeAllConnections();
    api.close();
  });

  test("are without a platform those of the list, where they are reached", async () => {
    expect(await standingMachines({ place: { kind: "existing" }, entries })).toEqual({
      "cp-1": { endpoint: "cp.example.org" },
      "w-1": { endpoint: "10.0.0.21" },
      "w-2": { endpoint: "10.0.0.22" },
    });
  });
});
