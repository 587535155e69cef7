// S2.5: the fixed hardware of a VM, in which Talos is known to run.

/** A value that no setting changes. */
export interface Fixed<T> {
  readonly value: T;
  /** Completes "it is always <value>: ...". */
  readonly reason: string;
}

/** By the keys that `proxmox.vm` formerly had for them. */
export const fixedShape = {
  machine: { value: "q35", reason: "OVMF and PCIe devices need its chipset" },
  bios: { value: "ovmf", reason: "Talos boots by UEFI, and Secure Boot requires UEFI" },
  efiDisk: { value: true, reason: "without it OVMF loses its boot entries when the VM stops" },
  scsiHardware: {
    value: "virtio-scsi-single",
    reason: "it gives every disk a controller and an I/O thread of its own",
  },
  networkModel: { value: "virtio", reason: "an emulated network card costs one core for the same traffic" },
  balloon: {
    value: 0,
    reason: "Talos does not support ballooning, and the kubelet counts on the memory that it saw at its start",
  },
  onBoot: { value: true, reason: "nodes must start by themselves when the host has restarted" },
} as const satisfies Readonly<Record<string, Fixed<string | number | boolean>>>;
