import { describe, expect, test } from "@jest/globals";
import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import { ProxmoxCsiAccess } from "../../../components/machines/proxmoxCsiAccess.ts";
import { record, unwrap } from "../../support/mocks.ts";

const make = () =>
  record(
    () =>
      new ProxmoxCsiAccess(
        "home-csi-access",
        { clusterName: "home", storage: "local-lvm", vmPaths: ["/vms/300", "/vms/301"] },
        { provider: new proxmox.Provider("proxmox", { endpoint: "https://10.0.0.2:8006" }) },
      ),
    {
      state: ({ type, inputs }) =>
        type === "proxmoxve:user/token:Token" ? { ...inputs, value: "home-csi@pve!csi=the-uuid" } : inputs,
    },
  );

describe("the account of the driver for volumes", () => {
  test("S4.1 may do on Proxmox what the driver does with this cluster's disks, and nothing else", async () => {
    const { resources } = await make();
    const children = resources.filter(({ parent }) => parent === "sluice:machines:ProxmoxCsiAccess home-csi-access");
    const grant = (path: string, roleId: string) => ({
      type: "proxmoxve:index/acl:Acl",
      name: `home-csi-access-on${path.replaceAll("/", "-")}`,
      inputs: { path, roleId, userId: "home-csi@pve" },
    });
    expect(children.map(({ type, name, inputs }) => ({ type, name, inputs }))).toEqual([
      grant("/storage/local-lvm", "home-csi-storage"),
      grant("/vms/300", "home-csi-vms"),
      grant("/vms/301", "home-csi-vms"),
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

  test("hands on the token in its two parts, the second of them secret", async () => {
    const { result } = await make();
    expect(await unwrap(result.tokenId)).toEqual({ known: true, secret: false, value: "home-csi@pve!csi" });
    expect(await unwrap(result.tokenSecret)).toEqual({ known: true, secret: true, value: "the-uuid" });
  });
});
