package node

import (
	"path"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/resources/block"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// Image is the Talos on the disk by now, which may have upgraded itself.
func (b *box) Image() machine.Image {
	if installed, _, _ := b.disk.read(); installed != nil {
		return *installed
	}
	return b.spec.Image
}

// Resize gives the machine other hardware, which it has from the next boot on.
func (b *box) Resize(cpus, memoryMiB int, diskBytes uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spec.CPUs, b.spec.MemoryMiB = cpus, memoryMiB
	disks := slices.Clone(b.spec.Disks)
	disks[0].Bytes = diskBytes
	b.spec.Disks = disks
}

// CPUs implements talosapi.Machine.
func (b *box) CPUs() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spec.CPUs
}

// MemoryMiB implements talosapi.Machine.
func (b *box) MemoryMiB() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spec.MemoryMiB
}

// AttachDisk plugs a disk in, also while the machine runs.
func (b *box) AttachDisk(disk machine.Disk) {
	b.mu.Lock()
	b.extra = append(slices.Clone(b.extra), disk)
	b.mu.Unlock()
	if node := b.running(); node != nil {
		node.plug(blockDevice{disk})
	}
}

// DetachDisk pulls it out.
func (b *box) DetachDisk(serial string) {
	b.mu.Lock()
	b.extra = slices.DeleteFunc(slices.Clone(b.extra), func(disk machine.Disk) bool { return disk.Serial == serial })
	b.mu.Unlock()
	if node := b.running(); node != nil {
		node.pull(serial)
	}
}

// bays are the disks that are plugged in.
func (b *box) bays() []machine.Disk {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(b.spec.Disks, b.extra)
}

// plug shows a disk that came after boot.
func (n *node) plug(disk blockDevice) {
	n.mu.Lock()
	n.devices = append(slices.Clone(n.devices), disk)
	n.mu.Unlock()
	// It fails only when the boot ends, and with it all that is shown.
	_ = n.showDisk(disk)
}

// pull takes a disk away that goes while Talos runs.
func (n *node) pull(serial string) {
	n.mu.Lock()
	devices := n.devices
	at := slices.IndexFunc(devices, func(disk blockDevice) bool { return disk.Serial == serial })
	if at >= 0 {
		n.devices = slices.Delete(slices.Clone(devices), at, at+1)
	}
	n.mu.Unlock()
	if at < 0 {
		return
	}
	id := path.Base(devices[at].Device)
	// As above.
	_ = drop(n.ctx, n.resources.State, "block.DisksController", block.NewDisk(block.NamespaceName, id).Metadata())
	_ = drop(n.ctx, n.resources.State, "block.DiscoveryController", block.NewDiscoveredVolume(block.NamespaceName, id).Metadata())
}
