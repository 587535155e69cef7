import { describe, expect, test } from "@jest/globals";
import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import { ProxmoxCsiAccess } from "../../../../components/machines/proxmox/proxmoxCsiAccess.ts";
import { record, unwrap } from "../../../support/mocks.ts";

const vm = (vmId: number) => ({ vmId, machineId: pulumi.output(`${vmId}/uuid`) });

const make = () =>
  record(
    () =>
      new ProxmoxCsiAccess(
        "home-csi-access",
        { clusterName: "home", storage: "local-lvm", vms: [vm(300), vm(301)] },
        { provider: new proxmox.Provider("proxmox", { endpoint: "https://10.0.0.2:8006" }) },
      ),
    {
      state: ({ type, inputs }) =>
        type === "proxmoxve:user/token:Token" ? { ...inputs, value: "home-csi@pve!csi=the-uuid" } : inputs,
    },
  );

const grant = (name: string, what: { readonly path: string; readonly roleId: string }) => ({
  type: "proxmoxve:index/acl:Acl",
  name: `home-csi-access-on-${name}`,
  inputs: { ...what, userId: "home-csi@pve", propagate: true },
});

describe("the account of the driver for volumes", () => {
  test("S4.1 has exactly the privileges that the driver needs for this cluster's disks", async () => {
    const { resources } = await make();
    const children = resources.filter(({ parent }) => parent === "sluice:machines:ProxmoxCsiAccess home-csi-access");
    expect(children.map(({ type, name, inputs }) => ({ type, name, inputs }))).toEqual([
      grant("300", { path: "/vms/300", roleId: "home-csi-vms" }),
      grant("301", { path: "/vms/301", roleId: "home-csi-vms" }),
      grant("local-lvm", { path: "/storage/local-lvm", roleId: "home-csi-storage" }),
      {
        type: "proxmoxve:index/roleLegacy:RoleLegacy",
        name: "home-csi-access-storage",
        inputs: {
          roleId: "home-csi-storage",
          privileges: ["Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.Audit"],
        },
      },
      {
        type: "proxmoxve:index/roleLegacy:RoleLegacy",
        name: "home-csi-access-vms",
        inputs: { roleId: "home-csi-vms", privileges: ["VM.Audit", "VM.Config.Disk"] },
      },
      {
        type: "proxmoxve:index/userLegacy:UserLegacy",
        name: "home-csi-access-user",
        inputs: {
          userId: "home-csi@pve",
          comment: "Volumes of the Kubernetes cluster home",
        },
      },
      {
        type: "proxmoxve:user/token:Token",
        name: "home-csi-access-token",
        inputs: { userId: "home-csi@pve", tokenName: "csi", privilegesSeparation: false },
      },
    ]);
  });

  test("provides the token in its two parts, the second of them secret", async () => {
    const { result } = await make();
    expect(await unwrap(result.tokenId)).toEqual({ known: true, secret: false, value: "home-csi@pve!csi" });
    expect(await unwrap(result.tokenSecret)).toEqual({ known: true, secret: true, value: "the-uuid" });
  });
});
