// What Proxmox adds to the resources that it creates.
import type { MockOptions } from "./mocks.ts";

export const vmType = "proxmoxve:index/vmLegacy:VmLegacy";
export const proxmoxApiToken = "sluice@pve!test=00000000-0000-0000-0000-000000000001";

/** The state of a VM or a token; for any other resource its inputs. */
export const proxmoxState: NonNullable<MockOptions["state"]> = ({ type, inputs }) => {
  if (type === vmType) return { ...inputs, smbios: { ...inputs.smbios, uuid: "THE-UUID" } };
  if (type === "proxmoxve:user/token:Token") return { ...inputs, value: `${inputs.userId}!csi=the-secret` };
  return inputs;
};
