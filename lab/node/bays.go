package node

import (
	"slices"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// Image returns the current Talos on the disk, which may have been upgraded.
func (b *box) Image() machine.Image {
	if installed, _, _ := b.disk.Read(); installed != nil {
		return *installed
	}
	return b.currentSpec().Image
}

// Resize changes the machine's hardware, from the next boot on.
func (b *box) Resize(cpus, memoryMiB int, diskBytes uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spec.CPUs, b.spec.MemoryMiB = cpus, memoryMiB
	disks := slices.Clone(b.spec.Disks)
	disks[0].Bytes = diskBytes
	b.spec.Disks = disks
}

// AttachDisk attaches a disk, even while the machine is on.
func (b *box) AttachDisk(disk machine.Disk) {
	b.mu.Lock()
	b.extra = append(slices.Clone(b.extra), disk)
	b.mu.Unlock()
	if node := b.running(); node != nil {
		node.hardware.Plug(disk)
	}
}

// DetachDisk detaches a disk.
func (b *box) DetachDisk(serial string) {
	b.mu.Lock()
	b.extra = slices.DeleteFunc(slices.Clone(b.extra), func(disk machine.Disk) bool { return disk.Serial == serial })
	b.mu.Unlock()
	if node := b.running(); node != nil {
		node.hardware.Pull(serial)
	}
}

// Disks implements boot.Hardware.
func (b *box) Disks() []machine.Disk {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(b.spec.Disks, b.extra)
}

func (b *box) status() Status {
	status := Status{Name: b.name, UUID: b.currentSpec().UUID, Powered: b.Powered()}
	for _, nic := range b.NICs() {
		status.MACs = append(status.MACs, nic.MAC)
	}
	if n := b.running(); n != nil {
		status.Talos = n.Version()
		stage, ready := n.sequencer.Stage()
		status.Stage, status.Ready = stage.String(), ready
		for _, addr := range n.Addresses() {
			status.Addresses = append(status.Addresses, addr.String())
		}
	}
	return status
}
