import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { MachineEntries } from "../../../components/lifecycle/changePlan.ts";
import { currentMachines } from "../../../components/machines/currentMachines.ts";
import { certificates } from "../kubernetes/certificates.ts";

const entries: MachineEntries = {
  "cp-1": { role: "controlplane", address: "10.0.0.11", talosAddress: "cp.example.org", vmId: 300 },
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

describe("the current machines", () => {
  const { HCLOUD_ENDPOINT } = process.env;
  afterEach(() => {
    if (HCLOUD_ENDPOINT === undefined) delete process.env.HCLOUD_ENDPOINT;
    else process.env.HCLOUD_ENDPOINT = HCLOUD_ENDPOINT;
  });

  test("are the servers of the cluster at Hetzner, from all pages, with type, location and public address", async () => {
    const asked: string[] = [];
    const pages = [
      { servers: [server("dev-cp-1"), server("another")], meta: { pagination: { next_page: 2 } } },
      {
        servers: [server("dev-w-1", { location: undefined, datacenter: { location: { name: "nbg1" } } })],
        meta: { pagination: { next_page: null } },
      },
    ];
    const api = createHttpServer(({ url = "" }, response) => {
      asked.push(url);
      response.end(JSON.stringify(pages.shift()));
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    process.env.HCLOUD_ENDPOINT = `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
    const place = { kind: "hetzner", cluster: "dev" };
    expect(await currentMachines({ place, token: "the-token", entries })).toEqual({
      "cp-1": { talosAddress: "address of dev-cp-1", serverType: "cx23", location: "fsn1" },
      "w-1": { talosAddress: "address of dev-w-1", serverType: "cx23", location: "nbg1" },
    });
    expect(asked).toEqual(["/v1/servers?per_page=50&page=1", "/v1/servers?per_page=50&page=2"]);
    api.close();
  });

  test("are the VMs of those names on Proxmox, with their ids, at the addresses of the list", async () => {
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
    const apiUrl = `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const place = { kind: "proxmox", cluster: "home", apiUrl, insecure: true };
    expect(await currentMachines({ place, token: "u@pve!t=secret", entries })).toEqual({
      "cp-1": { talosAddress: "10.0.0.11", vmId: 300 },
      "w-1": { talosAddress: "10.0.0.21", vmId: 403 },
    });
    expect(asked).toEqual(["/api2/json/cluster/resources?type=vm"]);
    api.closeAllConnections();
    api.close();
  });

  test("are those of the list on platform existing, with the addresses to reach them", async () => {
    expect(await currentMachines({ place: { kind: "existing" }, entries })).toEqual({
      "cp-1": { talosAddress: "cp.example.org" },
      "w-1": { talosAddress: "10.0.0.21" },
      "w-2": { talosAddress: "10.0.0.22" },
    });
  });
});
